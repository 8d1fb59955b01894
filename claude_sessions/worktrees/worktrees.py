"""Making, looking at, merging and removing worktrees."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from claude_sessions.clock import Clock
from claude_sessions.errors import Conflict, SessionsError
from claude_sessions.model import WORKTREES
from claude_sessions.worktrees import refusals
from claude_sessions.worktrees import repository as r
from claude_sessions.worktrees.book import Worktree, WorktreeBook
from claude_sessions.worktrees.exclude import exclude, refuse_links
from claude_sessions.worktrees.git import Git
from claude_sessions.worktrees.trees import HEADS, branch_for

NEVER_FINISHED = "initializing"  # git's lock on a worktree until it is whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    worktree: Worktree
    directory: str  # the one in it that corresponds to the directory asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one stands just now. `problem`: why no more is known of it."""

    worktree: Worktree
    branch: str = ""  # what is checked out there now; empty: none
    ahead: int = 0
    uncommitted: int = 0
    problem: str = ""


class Worktrees:
    """One thing at a time: what is only being made must not look as if it were gone."""

    def __init__(
        self,
        *,
        git: Git,
        book: WorktreeBook,
        clock: Clock,
        trusted: Callable[[str], bool],
        allowed: Callable[[str], object],  # raises where sessions may not run
    ) -> None:
        self.git = git
        self.book = book
        self._clock = clock
        self._trusted = trusted
        self._allowed = allowed
        self._turn = asyncio.Lock()

    async def make(self, directory: str, wanted: str, *, caller: str) -> Made:
        """From the last commit there. Written down first, so that a crash leaves no stray."""
        place = await r.place_of(self.git, directory)
        self._allowed(place.repository)
        await self._check(place.repository)
        async with self._turn:
            name = await self._free_name(place.repository, wanted)
            worktree = Worktree(
                name=name,
                session=None,
                repository=place.repository,
                directory=str(Path(place.repository, WORKTREES, name)),
                branch=branch_for(name),
                base=place.base,
                base_commit=place.commit,
                by=caller,
                at=self._clock.now(),
            )
            await self.book.enter(worktree)
            try:
                await self._add(worktree)
            except SessionsError:
                await self._undo(worktree)
                raise
        return Made(worktree=worktree, directory=str(Path(worktree.directory, place.below)))

    async def undo(self, worktree: Worktree) -> None:
        """Only for one that nobody has worked in."""
        async with self._turn:
            await self._undo(worktree)

    async def look(self) -> tuple[list[Standing], list[Worktree]]:
        """How they stand; and those that are gone, which are struck off."""
        standing: list[Standing] = []
        gone: list[Worktree] = []
        async with self._turn:
            for worktree in self.book.all():
                try:
                    if await self._is_gone(worktree):
                        gone.append(worktree)
                    else:
                        standing.append(await self._standing(worktree))
                except SessionsError as error:
                    standing.append(Standing(worktree=worktree, problem=str(error)))
        return standing, gone

    async def merge(self, worktree: Worktree, into: str | None, *, caller: str) -> tuple[str, int]:
        """The branch it went into, and how many commits that has got by it."""
        async with self._turn:
            await self._check(worktree.repository)
            await refusals.no_open_work(self.git, worktree)
            await refusals.on_its_branch(self.git, worktree)
            commit = await refusals.tip_of(self.git, worktree)
            tree = await refusals.target(self.git, worktree, into)
            commits = await r.commits_beyond(self.git, tree.path, commit, tree.head)
            if commits:
                await r.merge(self.git, tree.path, worktree.branch, commit)
                await self.book.merged(worktree, tree.branch, commits, caller)
        return tree.branch, commits

    async def remove(self, worktree: Worktree, *, keep_branch: bool, caller: str) -> bool:
        """Whether its branch was kept: with `keep_branch` one that has commits of its own is."""
        async with self._turn:
            await self._check(worktree.repository)
            await refusals.no_open_work(self.git, worktree)
            await refusals.no_lock(self.git, worktree)
            await refusals.no_loose_commits(self.git, worktree)
            commit, lost = await self._lost_with(worktree)
            if lost and not keep_branch:
                raise refusals.would_lose(worktree, lost)
            # Without --force: git looks once more itself, and refuses what it finds.
            await self.git.read(worktree.repository, "worktree", "remove", worktree.directory)
            kept = commit is None or bool(lost) or not await self._drop_branch(worktree, commit)
            await self.book.strike(worktree, branch_kept=kept, reason="user", caller=caller)
        return kept

    async def _lost_with(self, worktree: Worktree) -> tuple[str | None, int]:
        commit = await r.commit_of(self.git, worktree.repository, worktree.branch)
        if commit is None:
            return None, 0
        there = worktree.repository
        return commit, await r.commits_lost_with(self.git, there, commit, worktree.branch)

    async def _free_name(self, repository: str, wanted: str) -> str:
        name, n = wanted, 1
        while await self._is_taken(repository, name):
            n += 1
            name = f"{wanted[:44]}-{n}"
        return name

    async def _is_taken(self, repository: str, name: str) -> bool:
        if any(worktree.name == name for worktree in self.book.all()):
            return True
        if await asyncio.to_thread(os.path.lexists, Path(repository, WORKTREES, name)):
            return True
        return await r.commit_of(self.git, repository, branch_for(name)) is not None

    async def _add(self, worktree: Worktree) -> None:
        await asyncio.to_thread(refuse_links, worktree.directory)
        shared = await self.git.read(worktree.repository, "rev-parse", "--git-path", "info/exclude")
        await asyncio.to_thread(exclude, Path(worktree.repository, shared.rstrip("\n")))
        add = ("worktree", "add", "-b", worktree.branch, worktree.directory, worktree.base_commit)
        await self.git.read(worktree.repository, *add)

    async def _undo(self, worktree: Worktree) -> None:
        with suppress(Conflict):
            remove = ("worktree", "remove", "--force", "--force", worktree.directory)
            await self.git.ask(worktree.repository, *remove)
            await self._drop_branch(worktree, worktree.base_commit)
        await self.book.strike(worktree, branch_kept=False, reason="unfinished")

    async def _drop_branch(self, worktree: Worktree, commit: str) -> bool:
        """Only as it was seen: a commit made meanwhile, or a tree that has it, keeps it."""
        trees = await r.trees_of(self.git, worktree.repository)
        if any(tree.branch == worktree.branch for tree in trees):
            return False
        drop = ("update-ref", "-d", HEADS + worktree.branch, commit)
        return not (await self.git.ask(worktree.repository, *drop)).code

    async def _is_gone(self, worktree: Worktree) -> bool:
        if not await asyncio.to_thread(os.path.lexists, worktree.directory):
            if worktree.session is None:
                await self._undo(worktree)  # the daemon died before git had made it
                return True
            with suppress(Conflict):  # git is to forget it too, if the repository is still there
                await self.git.ask(worktree.repository, "worktree", "remove", worktree.directory)
            await self.book.strike(worktree, branch_kept=True, reason="gone")
            return True
        tree = await refusals.tree_of(self.git, worktree)
        if worktree.session is None and tree.locked == NEVER_FINISHED:
            await self._undo(worktree)  # the daemon died while git was making it
            return True
        return False

    async def _standing(self, worktree: Worktree) -> Standing:
        await self._check(worktree.repository)
        commit = await refusals.tip_of(self.git, worktree)
        base = worktree.base_commit
        if worktree.base:
            base = await r.commit_of(self.git, worktree.repository, worktree.base) or base
        return Standing(
            worktree=worktree,
            branch=(await refusals.tree_of(self.git, worktree)).branch,
            ahead=await r.commits_beyond(self.git, worktree.repository, commit, base),
            uncommitted=len(await r.uncommitted(self.git, worktree.directory)),
        )

    async def _check(self, repository: str) -> None:
        if not self._trusted(repository):
            await r.refuse_programs(self.git, repository)
