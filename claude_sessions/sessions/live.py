"""The sessions that have a process, each kept by a task of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Self

import structlog

from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Reason, Status
from claude_sessions.sessions.mailbox import Gone
from claude_sessions.sessions.session import Session
from claude_sessions.state import SessionState, draft

log = structlog.get_logger()

STOP_SECONDS = 9.0


class LiveSessions:
    """Open it with `async with`: leaving puts every one of them to sleep within a deadline."""

    def __init__(self, log: EventLog, make: Callable[[str], Session]) -> None:
        self._log = log
        self._make = make
        self._sessions: dict[str, Session] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> None:
        """Turns are interrupted, sessions fall asleep; whoever does not within the time is cut."""
        rests = [
            self._group.create_task(self.rest(session_id, Reason.SHUTDOWN), name="pool.rest")
            for session_id in self._sessions
        ]
        if rests:
            late = (await asyncio.wait(rests, timeout=STOP_SECONDS))[1]
            for task in (*late, *self._tasks.values()):
                task.cancel()
            if late:
                log.warning("pool.cut", sessions=len(late))
        await self._group.__aexit__(None, None, None)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._sessions

    def get(self, session_id: str) -> Session | None:
        return self._sessions.get(session_id)

    def states(self) -> list[SessionState]:
        states = [session.state for session in self._sessions.values()]
        return [state for state in states if state.status.has_process]

    def pids(self) -> list[int]:
        return [pid for session in self._sessions.values() if (pid := session.pid) is not None]

    def start(self, session_id: str) -> None:
        session = self._sessions[session_id] = self._make(session_id)
        name = f"session:{session_id}"
        self._tasks[session_id] = self._group.create_task(self._keep(session), name=name)

    async def rest(self, session_id: str, reason: Reason) -> None:
        session = self._sessions[session_id]
        slept = True
        with contextlib.suppress(Gone):
            slept = await session.sleep(reason)
        if slept:
            await self.gone(session_id)

    async def gone(self, session_id: str) -> None:
        """Until its task has ended."""
        if (task := self._tasks.get(session_id)) is not None:
            await asyncio.wait([task])

    async def _keep(self, session: Session) -> None:
        """Nothing escapes from here: one session's failure must not touch its neighbours."""
        try:
            await self._end_lost(session, await self._run(session))
        except Exception:
            log.exception("session.lost", session=session.id)
        finally:
            if self._sessions.get(session.id) is session:
                del self._sessions[session.id], self._tasks[session.id]

    async def _run(self, session: Session) -> str:
        """Why it is over, should it not have said so itself."""
        try:
            await session.run()
        except Exception as error:
            log.exception("session.failed", session=session.id)
            return f"Internal error: {error!r}"
        return "Its process could not be closed in order."

    async def _end_lost(self, session: Session, message: str) -> None:
        state = session.state
        if state.status.has_process:
            ending = e.SessionEnded(
                status=Status.FAILED, reason=Reason.CRASH, message=message, cost_unknown=True
            )
            await self._log.append(draft(state, ending))
