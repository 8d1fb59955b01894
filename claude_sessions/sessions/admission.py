"""Who may have a process: there is room, somebody idle makes room, or one waits in line."""

from __future__ import annotations

import asyncio

from claude_sessions import events as e
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.errors import Conflict, NotFound, PoolFull
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Reason
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.line import Line
from claude_sessions.sessions.live import LiveSessions
from claude_sessions.sessions.purse import Purse
from claude_sessions.sessions.room import Room
from claude_sessions.sessions.session import may_rest
from claude_sessions.sessions.transcript import said_elsewhere
from claude_sessions.state import draft


class Admission:
    """One at a time: whoever begins, wakes or ends a session without a process holds `lock`."""

    def __init__(
        self,
        *,
        log: EventLog,
        book: SessionBook,
        live: LiveSessions,
        room: Room,
        purse: Purse,
        transcripts: Transcripts,
    ) -> None:
        self._transcripts = transcripts
        self._log = log
        self._book = book
        self._live = live
        self._room = room
        self._purse = purse
        self.line = Line()
        self.lock = asyncio.Lock()
        self._closed = False

    def open(self) -> None:
        """Those who waited in line when the last daemon stopped wait on."""
        self._log.observe(self.line.see)
        self.line.restore(row.id for row in self._log.store.line())

    def close(self) -> None:
        self._closed = True

    async def admitted(self, queue: bool, session_id: str | None = None) -> bool:
        """False: it has to wait in line, and may."""
        try:
            await self._make_room(session_id)
        except PoolFull:
            if not queue:
                raise
            return False
        return True

    async def _make_room(self, session_id: str | None = None) -> None:
        """Without room the least recently used idle session gives its process back."""
        if self._closed:
            raise Conflict("claude-sessions is stopping.")
        self._purse.check()
        while (why := await self._room.lacks(self._live.states(), self._live.pids())) is not None:
            if not await self._rest_one():
                names = ", ".join(s.name for s in self._live.states() if not may_rest(s))
                raise PoolFull(
                    f"{why}: {names} at work. Wait in line for a place, or kill a session first.",
                    session=session_id,
                )

    async def _rest_one(self) -> bool:
        idle = [state for state in self._live.states() if may_rest(state)]
        if not idle:
            return False
        oldest = min(idle, key=lambda state: state.updated_at)
        await self._live.rest(oldest.id, Reason.POOL)
        return True

    async def keep_within_memory(self) -> None:
        """Those that grew while they worked give way once they are idle."""
        while await self._room.overfull(self._live.pids()):
            async with self.lock:
                if not await self._rest_one():
                    return

    async def catch_up(self, session_id: str) -> None:
        """What was said to it in a terminal meanwhile is in the log from now on."""
        if session_id not in self._live:
            state = await self._book.load(session_id)
            facts = await said_elsewhere(self._transcripts, state)
            await self._log.append(*(draft(state, fact) for fact in facts))

    async def call_up(self, session_id: str) -> bool:
        """The first in line; False: there is no room for it yet."""
        async with self.lock:
            try:
                state = await self._book.load(session_id)
            except NotFound:  # it has been forgotten
                self.line.leave(session_id)
                return True
            if not state.in_line:
                self.line.leave(session_id)
                return True
            await self._live.gone(session_id)  # it may be only just falling asleep
            if not state.queue:  # what it was to be told has been withdrawn
                await self._log.append(draft(state, e.SessionAsleep(reason=Reason.USER)))
                return True
            try:
                await self._make_room()
            except Conflict:
                return False
            await self.catch_up(session_id)
            await self._log.append(draft(state, e.SessionWoken()))
            self._live.start(state.id)
            return True
