"""What may be asked of one session, whether it has a process or not."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from claude_sessions import events as e
from claude_sessions.errors import BadRequest, Conflict, StorageFull
from claude_sessions.eventlog import EventLog
from claude_sessions.model import NAME, PermissionMode, Reason
from claude_sessions.sessions.beginnings import new_message
from claude_sessions.sessions.live import LiveSessions
from claude_sessions.sessions.mailbox import Gone
from claude_sessions.sessions.session import Session
from claude_sessions.state import QueuedMessage, SessionState, draft

T = TypeVar("T")


class Orders:
    """Where there is a process its session does it, in order; else the log alone hears of it."""

    _log: EventLog
    _live: LiveSessions

    async def interrupt(self, state: SessionState, *, caller: str | None = None) -> bool:
        return await self._with_live(state, lambda s: s.interrupt(caller))

    async def withdraw(
        self, state: SessionState, message_id: str, *, caller: str | None = None
    ) -> None:
        gone = e.MessageWithdrawn(message_id=message_id)
        await self._there_or_here(state, lambda s: s.withdraw(message_id, caller), gone, caller)

    async def hasten(
        self,
        state: SessionState,
        message: QueuedMessage,
        *,
        caller: str | None = None,
        steer: bool = False,
    ) -> None:
        """Say what is queued now: into the running turn, or instead of it."""
        said = new_message(message.text, message.attachments, steer=steer, front=not steer)
        await self._with_live(state, lambda s: s.hasten(message.id, said, caller))

    async def wait(self, state: SessionState) -> None:
        await self._with_live(state, lambda s: s.wait())

    async def set_budget(
        self, state: SessionState, budget_usd: float, *, caller: str | None = None
    ) -> None:
        changed = e.BudgetChanged(budget_usd=budget_usd)
        await self._there_or_here(
            state, lambda s: s.set_budget(budget_usd, caller), changed, caller
        )

    async def set_mode(
        self, state: SessionState, mode: PermissionMode, *, caller: str | None = None
    ) -> None:
        changed = e.ModeChanged(permission_mode=mode)
        await self._there_or_here(state, lambda s: s.set_mode(mode, caller), changed, caller)

    async def set_model(
        self, state: SessionState, model: str | None, *, caller: str | None = None
    ) -> None:
        changed = e.ModelChanged(model=model)
        await self._there_or_here(state, lambda s: s.set_model(model, caller), changed, caller)

    async def _there_or_here(
        self,
        state: SessionState,
        act: Callable[[Session], Awaitable[None]],
        fact: e.Payload,
        caller: str | None,
    ) -> None:
        """By the session itself; without a process the fact is all there is to it."""
        while (session := self._live.get(state.id)) is not None:
            self._check_room()
            try:
                await act(session)
                return
            except Gone:
                await self._live.gone(state.id)
        await self._log.append(draft(state, fact, caller=caller))

    async def sleep(self, state: SessionState) -> bool:
        """Give its process back now; False: it has something to do, or none."""
        session = self._live.get(state.id)
        if session is None:
            return False
        with contextlib.suppress(Gone):
            return await session.sleep(Reason.USER)
        return False

    async def stop_task(self, state: SessionState, task_id: str) -> None:
        await self._with_live(state, lambda s: s.stop_task(task_id))

    async def rename(self, state: SessionState, name: str, *, caller: str | None = None) -> None:
        if not NAME.fullmatch(name):
            raise BadRequest(f"“{name[:60]}” cannot be a name: lower-case letters, digits, . _ -")
        row = await self._log.session_row(name)
        if row is not None and row.id != state.id:
            raise Conflict(f"The name {name} is taken by another session.")
        await self._log.append(draft(state, e.SessionRenamed(name=name), caller=caller))

    async def _with_live(self, state: SessionState, act: Callable[[Session], Awaitable[T]]) -> T:
        session = self._live.get(state.id)
        if session is None:
            raise Conflict(f"{state.name} has no process: it is {state.status}.")
        self._check_room()
        return await act(session)

    def _check_room(self) -> None:
        """A session whose words wait for room on the disk cannot take an order."""
        if self._log.trouble is not None:
            raise StorageFull(f"Nothing new can be stored: {self._log.trouble}, then try again.")
