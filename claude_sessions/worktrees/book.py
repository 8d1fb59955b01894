"""The worktrees we have made, kept as documents; the log has who made, merged or removed them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import BaseModel

from claude_sessions import events as e
from claude_sessions.errors import NotFound
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.documents import Documents


class WorktreeDocument(BaseModel):
    session: str | None = None  # None: it was made, and then nothing was launched
    repository: str  # the root of the main working tree
    directory: str  # the root of the worktree
    branch: str
    base: str  # the branch it began from; empty: none was checked out
    base_commit: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    name: str
    session: str | None
    repository: str
    directory: str
    branch: str
    base: str
    base_commit: str
    by: str
    at: datetime


class WorktreeBook:
    def __init__(self, documents: Documents, log: EventLog) -> None:
        self._table = documents.table("worktrees", WorktreeDocument)
        self._log = log

    def all(self) -> list[Worktree]:
        return [Worktree(name=name, **doc.model_dump()) for name, doc in self._table.all().items()]

    def find(self, ref: str, session: str | None = None) -> Worktree:
        """By its name, else by the session it was made for."""
        found = self.all()
        named = [worktree for worktree in found if worktree.name == ref]
        theirs = [worktree for worktree in found if session and worktree.session == session]
        if not (named or theirs):
            raise NotFound(f"There is no worktree {ref}. /worktrees lists them.")
        return (named or theirs)[-1]

    async def enter(self, worktree: Worktree) -> None:
        made = e.WorktreeCreated(
            name=worktree.name,
            repository=worktree.repository,
            directory=worktree.directory,
            branch=worktree.branch,
            base=worktree.base,
            base_commit=worktree.base_commit,
        )
        await self._record(made, worktree.by)
        self._put(worktree)

    def assign(self, worktree: Worktree, session: str | None) -> None:
        """The document alone: the session's own events say where it runs."""
        self._put(replace(worktree, session=session))

    async def merged(self, worktree: Worktree, into: str, commits: int, caller: str) -> None:
        fact = e.WorktreeMerged(
            name=worktree.name,
            repository=worktree.repository,
            branch=worktree.branch,
            into=into,
            commits=commits,
        )
        await self._record(fact, caller)

    async def strike(
        self, worktree: Worktree, *, branch_kept: bool, reason: str, caller: str | None = None
    ) -> None:
        removed = e.WorktreeRemoved(
            name=worktree.name,
            repository=worktree.repository,
            branch=worktree.branch,
            branch_kept=branch_kept,
            reason=reason,
        )
        await self._record(removed, caller)
        self._table.remove(worktree.name)

    def _put(self, worktree: Worktree) -> None:
        names = WorktreeDocument.model_fields
        self._table.put(
            worktree.name, WorktreeDocument(**{name: getattr(worktree, name) for name in names})
        )

    async def _record(self, fact: e.Payload, caller: str | None) -> None:
        await self._log.append(e.Draft(payload=fact, caller=caller))
