"""A real log, a router on it and channels in memory; tests say what happens to sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from claude_sessions import events as e
from claude_sessions.channel import Kind, MemoryChannel, Notification
from claude_sessions.clock import ManualClock
from claude_sessions.eventlog import EventLog
from claude_sessions.router import NotificationRouter
from claude_sessions.state import SessionState, fold

HERE, PHONE = "console|local", "telegram|42"


class Stage:
    def __init__(self, log: EventLog, clock: ManualClock, *, waiting_bound: int) -> None:
        self.log = log
        self.clock = clock
        self.states: dict[str, SessionState] = {}
        self.router = NotificationRouter(
            log=log, states=self.states.get, clock=clock, waiting_bound=waiting_bound
        )
        log.observe(self._see)

    def _see(self, event: e.Event) -> None:
        if event.session is not None:
            self.states[event.session] = fold(self.states.get(event.session), event)

    def channel(self, channel_id: str = HERE) -> MemoryChannel:
        channel = MemoryChannel(channel_id)
        self.router.attach(channel)
        return channel

    async def put(
        self, session: str, *payloads: e.Payload, turn: str | None = None, caller: str | None = None
    ) -> None:
        """Whatever it causes has happened when this returns."""
        state = self.states.get(session)
        drafts = [
            e.Draft(
                payload=payload,
                session=session,
                project="p",
                run="run1",
                turn=turn or (state.turn if state else None),
                caller=caller,
            )
            for payload in payloads
        ]
        await self.log.append(*drafts)
        await self.settle()

    async def launch(
        self,
        session: str = "auth",
        *,
        origin: str | None = HERE,
        front: tuple[str, ...] = (),
        once: bool = False,
        trusted: bool = True,
        budget_usd: float | None = None,
        caller: str | None = None,
    ) -> None:
        born = e.SessionCreated(
            project_id="p",
            name=f"fix-{session}",
            directory="/home/me/web",
            prompt="Users are logged out",
            origin=origin,
            trusted=trusted,
            once=once,
            budget_usd=budget_usd,
        )
        watched = [e.Foregrounded(channel=channel) for channel in front]
        await self.put(session, born, *watched, e.SessionStarted(), caller=caller)

    async def turn(self, session: str = "auth", turn: str = "turn1") -> None:
        await self.put(session, e.TurnStarted(), turn=turn)

    async def say(self, session: str, text: str, block: str = "b1", offset: int = 0) -> None:
        delta = e.AssistantDelta(
            session=session, turn="turn1", block=block, offset=offset, text=text
        )
        self.log.signal(delta)
        await self.settle()

    async def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        await self.settle()

    async def settle(self) -> None:
        """Everything that can happen without time passing, or a thread, happens."""
        for _ in range(30):
            await asyncio.sleep(0)


@asynccontextmanager
async def staged(directory: Path, *, waiting_bound: int = 1000) -> AsyncIterator[Stage]:
    clock = ManualClock()
    async with EventLog(directory / "log.db", runner="test", clock=clock.now) as log:
        stage = Stage(log, clock, waiting_bound=waiting_bound)
        async with stage.router:
            yield stage


def kinds(channel: MemoryChannel) -> list[Kind]:
    return [notification.kind for notification in channel.sent]


def texts(channel: MemoryChannel, kind: Kind) -> list[str]:
    return [n.text for n in channel.sent if n.kind is kind]


def only(channel: MemoryChannel, kind: Kind) -> Notification:
    (found,) = [n for n in channel.sent if n.kind is kind]
    return found
