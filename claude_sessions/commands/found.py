"""What was found on this machine, in words: projects, and conversations begun in a terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.figures import ago, count
from claude_sessions.commands.lexer import quote
from claude_sessions.commands.listing import folder, icon
from claude_sessions.commands.workdirs import shown
from claude_sessions.engines.transcripts import Found
from claude_sessions.projects import Project
from claude_sessions.state import SessionState

PROJECTS = 30
CONVERSATIONS = 15
OFFERED = 5
SHUT = "🔒"
HOW_TO_ALLOW = "add the directory under [sessions] workdirs"
SHORT_ID = 8


def projects(
    found: Sequence[Project],
    now: datetime,
    *,
    allowed: Collection[str],
    words: Mapping[str, str],
    total: int,
    narrow: bool = False,
) -> tuple[str, tuple[Action, ...]]:
    """`allowed`: the paths in which sessions may start. `words`: what each path is called by.

    `narrow`: on a screen where columns do not stand below each other.
    """
    if not found:
        return "No projects. /new --dir DIR starts a session in a directory.", ()
    cells = [_cells(p, now, words[p.path], p.path in allowed) for p in found]
    lines = [" · ".join(filter(None, row)) for row in cells] if narrow else _rows(cells)
    if total > len(found):
        lines.append(f"… and {total - len(found):,} more: /projects TEXT")
    lines.append("/new --dir NAME PROMPT starts a session in one.")
    if any(p.path not in allowed for p in found):
        lines.append(f"{SHUT} outside the allowed directories: {HOW_TO_ALLOW}.")
    return "\n".join(lines), tuple(_new_in(p) for p in found if p.path in allowed)[:OFFERED]


def _cells(project: Project, now: datetime, word: str, may_start: bool) -> tuple[str, ...]:
    name = one_line(word if word == project.name else place(word), 40)
    return (
        name if may_start else f"{SHUT} {name}",
        one_line(project.facts.at or "", 30),
        ago(project.last_used, now) if project.last_used else "not used yet",
        count(project.sessions, "session") if project.sessions else "",
    )


def _rows(cells: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = ([f"{cell:{w}}" for cell, w in zip(row, widths, strict=True) if w] for row in cells)
    return ["  ".join(row).rstrip() for row in rows]


def _new_in(project: Project) -> Action:
    """By id: a directory of this name may appear where names are looked for first."""
    label = f"New in {one_line(project.name, 24)}"
    return Action(label=label, line=f"/new --dir {project.id} ", needs_text=True)


def conversations(
    found: Sequence[Found], now: datetime, *, shut: int
) -> tuple[str, tuple[Action, ...]]:
    """`shut`: how many more there are in directories that are not allowed, or gone."""
    lines = []
    for one in found[:CONVERSATIONS]:
        lines.append(f"💻 {one_line(one.title, 60)}")
        facts = (place(one.directory), ago(one.updated_at, now), one.claude_id[:SHORT_ID])
        lines.append(f"   {' · '.join(facts)}")
    if len(found) > CONVERSATIONS:
        lines.append(f"… and {len(found) - CONVERSATIONS:,} more: /adopt and part of the title")
    if found:
        lines.append("/adopt ID makes one a session; the next message goes on with it.")
    if shut:
        others = count(shut, "conversation")
        lines.append(f"{SHUT} {others} where sessions may not run: {HOW_TO_ALLOW}.")
    return "\n".join(lines), tuple(_adopt(one) for one in found[:CONVERSATIONS])


def _adopt(found: Found) -> Action:
    return Action(label=f"Adopt {one_line(found.title, 24)}", line=f"/adopt {found.claude_id}")


def which(found: Sequence[Found], wanted: str) -> str:
    lines = [
        f"/adopt {one.claude_id[:SHORT_ID]}  {one_line(one.title, 60)}" for one in found[:OFFERED]
    ]
    more = [f"… and {len(found) - OFFERED:,} more"] if len(found) > OFFERED else []
    head = f"{len(found):,} conversations fit “{one_line(wanted, 40)}”. Say which:"
    return "\n".join([head, *lines, *more])


def place(path: str) -> str:
    return one_line(shown(Path(path)), 100)


def path_to_type(path: str) -> str:
    return quote(shown(Path(path)))


def adopted(state: SessionState, *, wanted: str | None) -> tuple[str, tuple[Action, ...]]:
    lines = [
        f"{icon(state)} {state.name} · {folder(state)} · adopted",
        one_line(state.prompt, 80),
        "Say something to go on with it. If it is still open in a terminal, close it there first.",
    ]
    if wanted is not None and wanted != state.name:
        lines.append(f"The name {wanted} is taken; this one is {state.name}.")
    lines.append(f"id {state.id}")
    say = Action(label="Say", line=f"/say {state.id} ", needs_text=True)
    return "\n".join(lines), (say, Action(label="Foreground", line=f"/fg {state.id}"))


def owned(name: str) -> str:
    return f"That conversation is a session already: {name}. /say {name} goes on with it."
