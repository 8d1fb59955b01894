"""Directories that somebody has named as projects. What is worked in is one without being named."""

from __future__ import annotations

import asyncio
from datetime import datetime

from pydantic import BaseModel

from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.eventlog import EventLog
from claude_sessions.sessions.beginnings import project_id
from claude_sessions.storage.documents import Documents


class ProjectDocument(BaseModel):
    by: str
    at: datetime


class ProjectBook:
    def __init__(self, documents: Documents, log: EventLog, clock: Clock) -> None:
        self._table = documents.table("projects", ProjectDocument)
        self._log = log
        self._clock = clock
        self._one = asyncio.Lock()  # at a time

    def all(self) -> list[str]:
        return sorted(self._table.all())

    async def add(self, directory: str, caller: str) -> bool:
        """False: it is there already."""
        async with self._one:
            if directory in self._table.all():
                return False
            id_ = project_id(directory)
            added = e.ProjectAdded(project_id=id_, directory=directory)
            await self._log.append(e.Draft(payload=added, project=id_, caller=caller))
            self._table.put(directory, ProjectDocument(by=caller, at=self._clock.now()))
            return True
