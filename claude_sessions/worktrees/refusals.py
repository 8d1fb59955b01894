"""What stands in the way of merging or removing: work that would be lost, or written over."""

from __future__ import annotations

from claude_sessions.approvals.visible import one_line
from claude_sessions.commands.figures import count
from claude_sessions.errors import Conflict
from claude_sessions.worktrees import repository as r
from claude_sessions.worktrees.book import Worktree
from claude_sessions.worktrees.git import Git
from claude_sessions.worktrees.trees import Tree


async def tree_of(git: Git, worktree: Worktree) -> Tree:
    for tree in await r.trees_of(git, worktree.repository):
        if tree.path == worktree.directory:
            return tree
    raise Conflict(
        f"{worktree.directory} is no longer a worktree of {worktree.repository}."
        " `git worktree repair` may mend it."
    )


async def tip_of(git: Git, worktree: Worktree) -> str:
    commit = await r.commit_of(git, worktree.repository, worktree.branch)
    if commit is None:
        raise Conflict(f"The branch {worktree.branch} is gone from {worktree.repository}.")
    return commit


async def no_open_work(git: Git, worktree: Worktree) -> None:
    """Nothing uncommitted, and nothing begun: neither is anywhere else."""
    where = worktree.directory
    await tree_of(git, worktree)
    if begun := await r.unfinished(git, where):
        raise Conflict(
            f"{worktree.name} is in the middle of a {begun}: finish or abort it in {where}."
        )
    if files := await r.uncommitted(git, where):
        raise Conflict(
            f"{worktree.name} has {count(len(files), 'uncommitted file')}: {r.named(files)}.\n"
            f"Commit them (/say {worktree.name} commit your work), or put them aside:"
            f" git -C {where} stash -u"
        )


async def on_its_branch(git: Git, worktree: Worktree) -> None:
    """Else what was committed there lately would seem to be merged, and is not."""
    tree = await tree_of(git, worktree)
    if tree.branch != worktree.branch:
        raise Conflict(
            f"{worktree.name} is on {tree.branch or 'no branch'} now. Go back to its own first:"
            f" git -C {tree.path} switch {worktree.branch}"
        )


async def no_lock(git: Git, worktree: Worktree) -> None:
    tree = await tree_of(git, worktree)
    if tree.locked is not None:
        why = f" ({one_line(tree.locked, 60)})" if tree.locked else ""
        raise Conflict(f"{worktree.name} is locked{why}: git worktree unlock {tree.path}")


async def no_loose_commits(git: Git, worktree: Worktree) -> None:
    """Commits made with no branch checked out have no other home than the worktree."""
    tree = await tree_of(git, worktree)
    if tree.branch:
        return
    if loose := await r.commits_lost_with(git, tree.path, tree.head, None):
        raise Conflict(
            f"{worktree.name} has {count(loose, 'commit')} on no branch at all. Give them one:"
            f" git -C {tree.path} switch -c BRANCH"
        )


def would_lose(worktree: Worktree, commits: int) -> Conflict:
    are = "is" if commits == 1 else "are"
    return Conflict(
        f"{count(commits, 'commit')} of {worktree.branch} {are} in no other branch.\n"
        f"/worktrees merge {worktree.name} merges first;"
        f" /worktrees remove {worktree.name} --yes removes the directory and keeps the branch."
    )


async def target(git: Git, worktree: Worktree, into: str | None) -> Tree:
    """The working tree that has the branch to merge into, ready for it."""
    into = into or worktree.base
    if not into:
        raise Conflict(
            f"{worktree.branch} began from no branch. Say where it goes:"
            f" /worktrees merge {worktree.name} --into BRANCH"
        )
    trees = await r.trees_of(git, worktree.repository)
    tree = next((t for t in trees if t.branch == into != worktree.branch), None)
    if tree is None:
        raise Conflict(
            f"{worktree.repository} is on {trees[0].branch or 'no branch'}, not on"
            f" {one_line(into, 60)}. Switch it first: git switch {one_line(into, 60)}"
        )
    if begun := await r.unfinished(git, tree.path):
        raise Conflict(f"{tree.path} is in the middle of a {begun}: finish or abort it first.")
    if files := await r.uncommitted(git, tree.path, untracked=False):
        raise Conflict(
            f"{tree.path} has {count(len(files), 'uncommitted file')}: {r.named(files)}."
            " Commit or stash them first."
        )
    return tree
