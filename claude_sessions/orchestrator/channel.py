"""Sessions whose channel is an orchestrator's: what it hears, and by which way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from types import TracebackType
from typing import Self

from claude_sessions.channel import ChannelClosed, Kind, MessageRef, Notification
from claude_sessions.clock import Clock
from claude_sessions.orchestrator import texts
from claude_sessions.orchestrator.doorbell import Doorbell
from claude_sessions.orchestrator.roads import Roads
from claude_sessions.origins import Address, parts_of
from claude_sessions.state import SessionState

OURS = ("console|", "terminal|", "mcp|")  # those who read there come and go
ENDINGS = frozenset({Kind.COMPLETED, Kind.FAILED, Kind.KILLED, Kind.LIMIT})
NEEDS_SOMEBODY = frozenset({Kind.WAITING, Kind.CARD, Kind.NOTICE})


def is_foreign(channel_id: str, taken: Callable[[str], bool]) -> bool:
    """Whatever neither the terminal nor the bot, if there is one, takes as a place to read."""
    return not channel_id.startswith(OURS) and not taken(channel_id)


class Orchestrator:
    """Open it with `async with`, before the router, which has its channels made by `channel`.

    `states` and `blocks` tell, of a session's id, how it stands and what it said last.
    """

    def __init__(
        self,
        roads: Roads,
        *,
        states: Callable[[str], SessionState | None],
        blocks: Callable[[str], Sequence[str]],
        clock: Clock,
    ) -> None:
        self.roads = roads
        self.states = states
        self.blocks = blocks
        self.clock = clock

    async def __aenter__(self) -> Self:
        self._group = await asyncio.TaskGroup().__aenter__()
        self.doorbell = Doorbell(self.roads.event, clock=self.clock, group=self._group)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.doorbell.close()
        await self._group.__aexit__(kind, error, trace)

    def channel(self, channel_id: str) -> OrchestratorChannel:
        return OrchestratorChannel(channel_id, self)


class OrchestratorChannel:
    """Words that stream and single tools are not for it: it asks for the output when it cares."""

    def __init__(self, channel_id: str, orchestrator: Orchestrator) -> None:
        self.id = channel_id
        self._to: Address | None = parts_of(channel_id)
        self._orchestrator = orchestrator
        self._numbers = count(1)
        self._closed = False

    async def send(self, notification: Notification) -> MessageRef:
        self._check()
        session = notification.session
        if session is None:
            await self._orchestrator.roads.event(notification.text)
        elif notification.kind in ENDINGS:
            self._orchestrator.doorbell.hush(session)
            await self._tell_all(session, notification)
        elif notification.kind in NEEDS_SOMEBODY:
            reason = partial(self._event, session, notification)
            await self._orchestrator.doorbell.press(session, reason)
        elif notification.kind is Kind.LONG_RUNNING:
            await self._write(session, notification)
        return MessageRef(channel=self.id, id=str(next(self._numbers)))

    async def edit(self, ref: MessageRef, notification: Notification) -> None:
        self._check()  # what a command has sent cannot be changed any more

    async def close(self) -> None:
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise ChannelClosed(self.id)

    async def _tell_all(self, session: str, told: Notification) -> None:
        roads = self._orchestrator.roads
        event = self._event(session, told) or told.text
        if self._to is None:
            await roads.wake(event)
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._write(session, told), name=f"message:{session}")
            group.create_task(roads.event(event), name=f"event:{session}")

    async def _write(self, session: str, told: Notification) -> None:
        state = self._orchestrator.states(session)
        text = told.text
        if state is not None:
            now = self._orchestrator.clock.now()
            text = texts.message(state, told, self._orchestrator.blocks(session), now) or text
        await self._orchestrator.roads.message(self._to, text)

    def _event(self, session: str, told: Notification) -> str | None:
        state = self._orchestrator.states(session)
        if state is None:
            return told.text
        if not _stands(state, told):
            return None
        return texts.event(state, told, self._orchestrator.blocks(session))


def _stands(state: SessionState, told: Notification) -> bool:
    """Whether it is still so: what was held back may have been dealt with."""
    match told.kind:
        case Kind.WAITING:
            return state.turn is None and not state.status.ended
        case Kind.CARD:
            asked = told.card.approval_id if told.card else ""
            return any(pending.id == asked for pending in state.pending)
        case Kind.NOTICE:
            return not state.status.ended
    return True
