"""A git repository with a working tree, and what can be asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from claude_sessions.approvals.visible import one_line
from claude_sessions.errors import BadRequest, Conflict, Forbidden
from claude_sessions.worktrees.git import Git
from claude_sessions.worktrees.trees import HEADS, Tree, read_trees

# Settings of a repository itself that name a program which the commands below would run.
PROGRAMS = (
    r"^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|core\.(sshcommand|gitproxy)"
    r"|remote\..*\.(uploadpack|vcs)|credential(\..*)?\.helper)$"
)
FILES_SHOWN = 5
UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A directory of a repository: from where a new worktree can be made."""

    repository: str  # the root of its main working tree
    below: str  # the directory, as seen from the root of its own working tree
    base: str  # the branch checked out there; empty: none
    commit: str


async def place_of(git: Git, directory: str) -> Place:
    """Refuses, with a sentence, where a worktree makes no sense."""
    inside = await git.ask(directory, "rev-parse", "--is-bare-repository", "--is-inside-work-tree")
    if inside.code:
        if "dubious ownership" in inside.err:
            raise Forbidden(f"git does not trust {directory}: it belongs to another user.")
        raise BadRequest(
            f"--worktree needs a git repository: {directory} is none (git init makes one)."
        )
    if inside.out.split() != ["false", "true"]:
        raise BadRequest(f"--worktree needs files to work on: {directory} is a bare repository.")
    head = await git.ask(directory, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if head.code:
        raise BadRequest(f"--worktree needs a commit to begin from: {directory} has none yet.")
    below = (await git.read(directory, "rev-parse", "--show-prefix")).rstrip("\n").rstrip("/")
    await _refuse_submodules(git, directory)
    if below:
        await _refuse_uncommitted(git, directory, below)
    trees = await trees_of(git, directory)
    if trees[0].bare:
        raise BadRequest(f"--worktree needs files to work on: {trees[0].path} is bare.")
    named = await git.ask(directory, "symbolic-ref", "--quiet", "--short", "HEAD")
    return Place(
        repository=trees[0].path, below=below, base=named.out.strip(), commit=head.out.strip()
    )


async def _refuse_submodules(git: Git, directory: str) -> None:
    above = await git.read(directory, "rev-parse", "--show-superproject-working-tree")
    listed = await git.ask(directory, "cat-file", "-e", "HEAD:.gitmodules")
    if above.strip():
        raise BadRequest(f"--worktree does not work in a submodule, and {directory} is one.")
    if not listed.code:
        raise BadRequest(f"--worktree does not work in {directory}: it has submodules.")


async def _refuse_uncommitted(git: Git, directory: str, below: str) -> None:
    kind = await git.ask(directory, "cat-file", "-t", f"HEAD:{below}")
    if kind.out.strip() != "tree":
        raise BadRequest(
            f"{directory} is not in the last commit, so a worktree would not have it. "
            "Commit it first."
        )


async def refuse_programs(git: Git, repository: str) -> None:
    """Checking files out would run them, and nobody has trusted this repository to run anything."""
    for scope in ("--local", "--worktree"):
        asked = await git.ask(
            repository, "config", scope, "--includes", "--name-only", "--get-regexp", PROGRAMS
        )
        if found := asked.out.split():
            raise Forbidden(
                f"The settings of {repository} name a program of their own ({found[0]})."
                f" /trust {repository} lets it run."
            )


async def trees_of(git: Git, directory: str) -> list[Tree]:
    return read_trees(await git.read(directory, "worktree", "list", "--porcelain", "-z"))


async def uncommitted(git: Git, tree: str, *, untracked: bool = True) -> list[str]:
    """The files, or whole directories, that are in no commit yet; ignored ones do not count."""
    which = "normal" if untracked else "no"
    out = await git.read(
        tree, "status", "--porcelain", "-z", "--no-renames", f"--untracked-files={which}"
    )
    return [entry[3:] for entry in out.split("\0") if entry]


async def unfinished(git: Git, tree: str) -> str | None:
    """`merge`, `rebase`, …: what somebody has begun there and not ended."""
    private = Path((await git.read(tree, "rev-parse", "--absolute-git-dir")).rstrip("\n"))

    def look() -> str | None:
        return next((word for mark, word in UNFINISHED.items() if (private / mark).exists()), None)

    return await asyncio.to_thread(look)


async def commit_of(git: Git, repository: str, branch: str) -> str | None:
    found = await git.ask(
        repository, "rev-parse", "--verify", "--quiet", f"{HEADS}{branch}^{{commit}}"
    )
    return found.out.strip() if not found.code else None


async def commits_beyond(git: Git, directory: str, commit: str, *others: str) -> int:
    """How many commits `commit` has that none of the others has."""
    out = await git.read(directory, "rev-list", "--count", commit, "--not", *others)
    return int(out)


async def commits_lost_with(git: Git, directory: str, commit: str, branch: str | None) -> int:
    """How many are in no other branch than this, local or remote, and in no tag."""
    spared = (f"--exclude={branch}",) if branch else ()
    return await commits_beyond(
        git, directory, commit, *spared, "--branches", "--remotes", "--tags"
    )


async def merge(git: Git, tree: str, branch: str, commit: str) -> None:
    """Into what is checked out in `tree`. A conflict leaves everything as it was."""
    message = f"Merge branch '{branch}'"
    try:
        answer = await git.ask(tree, "merge", "--no-edit", "-m", message, commit)
        if not answer.code:
            return
        unmerged = await git.ask(tree, "diff", "--name-only", "--diff-filter=U", "-z")
    finally:
        # Only ours: somebody may have begun one of their own meanwhile.
        ours = await git.ask(tree, "rev-parse", "--verify", "--quiet", "MERGE_HEAD")
        if ours.out.strip() == commit:
            await git.ask(tree, "merge", "--abort")
    if files := [name for name in unmerged.out.split("\0") if name]:
        raise Conflict(
            f"{branch} was not merged, and nothing has changed: it conflicts in {named(files)}."
        )
    raise Conflict(f"{branch} was not merged: {answer.last_line}")


def named(files: Sequence[str]) -> str:
    shown = ", ".join(one_line(name, 60) for name in files[:FILES_SHOWN])
    more = len(files) - FILES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
