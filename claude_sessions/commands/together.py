"""What people are told of sessions that share a repository, and of their worktrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.figures import count
from claude_sessions.commands.lexer import quote
from claude_sessions.commands.listing import doing, folder, icon
from claude_sessions.commands.workdirs import shown
from claude_sessions.state import SessionState
from claude_sessions.worktrees.book import Worktree
from claude_sessions.worktrees.repository import named
from claude_sessions.worktrees.worktrees import Standing

NAMED = 3
LISTED = 20


def warned(state: SessionState, others: Sequence[SessionState], branch: str) -> tuple[str, Action]:
    """`⚠️ fix-css also works in web (main).`"""
    names = [other.name for other in others[:NAMED]]
    if len(others) > NAMED:
        names.append(f"{len(others) - NAMED} more")
    who = " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]
    verb = "also works" if len(others) == 1 else "also work"
    where = f"{folder(state)} ({one_line(branch, 40)})" if branch else folder(state)
    action = Action(label="In a worktree instead", line=f"/worktrees move {state.id}")
    return f"⚠️ {who} {verb} in {where}.", action


def apart(worktree: Worktree) -> str:
    return f"🌿 on {worktree.branch}, from {_base(worktree)}"


def moved(state: SessionState, worktree: Worktree, left: int) -> str:
    lines = [
        f"🌿 {state.name} goes on in a worktree of its own · {worktree.branch}",
        _place(worktree),
    ]
    if left:
        where = PurePath(worktree.repository).name
        lines.append(f"{count(left, 'uncommitted file')} of others stay in {where}.")
    return "\n".join(lines)


def stays(state: SessionState, tree: str, files: Sequence[str]) -> str:
    return (
        f"{state.name} stays: {named(files)} in {tree} may be its own work, and would be left"
        f" behind. Commit or stash it, then: /worktrees move {state.name}"
    )


def listing(
    standing: Sequence[Standing],
    sessions: Mapping[str, SessionState | None],
    gone: Sequence[Worktree],
    now: datetime,
) -> tuple[str, tuple[Action, ...]]:
    lines: list[str] = []
    actions: list[Action] = []
    for each in standing[:LISTED]:
        lines += _entry(each, sessions.get(each.worktree.name), now)
        actions += _offers(each)
    if len(standing) > LISTED:
        lines.append(f"… and {len(standing) - LISTED} more")
    lines += [f"{one.name} is gone from {_place(one)}: struck off." for one in gone]
    text = "\n".join(lines) or "No worktrees. /new --worktree starts a session in one."
    return text, tuple(actions)


def _entry(standing: Standing, session: SessionState | None, now: datetime) -> list[str]:
    worktree = standing.worktree
    life = f"{icon(session)} {doing(session, now)}" if session else "no session"
    name = session.name if session else worktree.name
    head = f"{name} · {worktree.branch} · {life}"
    if standing.problem:
        return [head, f"   {one_line(standing.problem, 200)}"]
    work = [f"{count(standing.ahead, 'commit')} ahead of {_base(worktree)}"]
    if standing.branch != worktree.branch:
        work.append(f"now on {one_line(standing.branch, 40) or 'no branch'}")
    if standing.uncommitted:
        work.append(count(standing.uncommitted, "uncommitted file"))
    return [head, f"   {' · '.join(work)}", f"   📁 {_place(worktree)}"]


def _offers(standing: Standing) -> list[Action]:
    name = standing.worktree.name
    remove = Action(label=f"Remove {name}", line=f"/worktrees remove {quote(name)}")
    if not standing.ahead:
        return [remove]
    return [Action(label=f"Merge {name}", line=f"/worktrees merge {quote(name)}"), remove]


def data(standing: Standing, session: SessionState | None) -> dict[str, Any]:
    """The same for a program."""
    worktree = standing.worktree
    return {
        "name": worktree.name,
        "session": worktree.session,
        "status": session.status.value if session else None,
        "repository": worktree.repository,
        "directory": worktree.directory,
        "branch": worktree.branch,
        "base": worktree.base,
        "ahead": standing.ahead,
        "uncommitted": standing.uncommitted,
        "problem": standing.problem,
    }


def merged(worktree: Worktree, into: str, commits: int) -> tuple[str, tuple[Action, ...]]:
    if commits:
        text = f"✅ {worktree.name}: {count(commits, 'commit')} merged into {into}."
    else:
        text = f"{worktree.name}: {into} already has all of {worktree.branch}."
    remove = Action(label="Remove the worktree", line=f"/worktrees remove {quote(worktree.name)}")
    return text, (remove,)


def removed(worktree: Worktree, branch_kept: bool) -> str:
    branch = f"its branch {worktree.branch} is kept" if branch_kept else "its branch too"
    return f"🧹 {worktree.name}: the worktree is removed, {branch}."


def _base(worktree: Worktree) -> str:
    return worktree.base or worktree.base_commit[:8]


def _place(worktree: Worktree) -> str:
    return one_line(shown(Path(worktree.directory)), 120)
