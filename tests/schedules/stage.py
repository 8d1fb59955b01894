"""A timekeeper on a real log and real documents; time stands still until the test lets it pass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from claude_sessions import events as e
from claude_sessions.clock import ManualClock
from claude_sessions.commands import Launch, Reply
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Role
from claude_sessions.people import Caller
from claude_sessions.schedules.book import Schedule, ScheduleBook
from claude_sessions.schedules.timekeeper import Timekeeper
from claude_sessions.sessions.book import SessionBook
from claude_sessions.storage.documents import Documents
from tests.waiting import eventually

UTC_ZONE = ZoneInfo("UTC")
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
NINE = timedelta(hours=9)


class CountingClock(ManualClock):
    """Tells when somebody has gone to sleep again."""

    sleeps = 0

    async def sleep(self, seconds: float) -> None:
        self.sleeps += 1
        await super().sleep(seconds)


@dataclass
class Pad:
    """Launches by writing down that a session was born, as the manager does."""

    log: EventLog
    orders: list[Launch] = field(default_factory=list)
    callers: list[Caller] = field(default_factory=list)
    before: Callable[[], Any] = lambda: None

    async def launch(self, order: Launch, caller: Caller) -> Reply:
        self.before()
        self.orders.append(order)
        self.callers.append(caller)
        session = f"session{len(self.orders)}"
        born = e.SessionCreated(
            project_id="p", name=session, directory=order.directory or "", prompt=order.prompt
        )
        await self.log.append(e.Draft(payload=born, session=session, run="r", caller=str(caller)))
        await self.tell(session, e.SessionStarted())
        return Reply(text=session, session=session)

    async def tell(self, session: str, payload: e.Payload) -> None:
        await self.log.append(e.Draft(payload=payload, session=session, run="r", turn="t"))


@dataclass
class Stage:
    keeper: Timekeeper
    book: ScheduleBook
    pad: Pad
    log: EventLog
    clock: CountingClock

    async def add(self, **fields: Any) -> Schedule:
        now = self.clock.now()
        given = {"id": "s1", "cron": "0 9 * * *", "prompt": "test it", "directory": "/srv/web"}
        given |= {"by": "ann", "role": Role.PROMPTER, "origin": "memory|ann"}
        schedule = Schedule(**(given | {"made_at": now, "since": now} | fields))
        await self.book.add(schedule, "ann (memory)")
        self.keeper.look()
        await self.quiet()
        return schedule

    async def pass_time(self, time: timedelta) -> None:
        """Whatever it causes has happened when this returns."""
        await self.quiet()
        slept = self.clock.sleeps
        self.clock.advance(time.total_seconds())
        await eventually(lambda: self.clock.sleeps > slept or not self.book.all())
        await self.quiet()

    async def quiet(self) -> None:
        """All that is due has been dealt with, and the timekeeper sleeps."""

        def settled() -> bool:
            now = self.clock.now()
            every = self.book.all()
            return not any(
                self.keeper.starting(s.id) or s.latest(now, UTC_ZONE) is not None for s in every
            )

        await eventually(settled)

    async def facts(self, *kinds: type[e.Payload]) -> list[Any]:
        events = await self.log.events(limit=10_000)
        return [event.payload for event in events if isinstance(event.payload, kinds)]

    async def dues(self) -> list[str]:
        fired = await self.facts(e.ScheduleFired)
        return [f"{datetime.fromtimestamp(fact.due, UTC):%d %H:%M}" for fact in fired]


@asynccontextmanager
async def staged(
    directory: Path,
    *,
    clock: CountingClock | None = None,
    missed: Literal["skip", "catch_up"] = "skip",
    serving: bool = True,
) -> AsyncIterator[Stage]:
    clock = clock or CountingClock(MIDNIGHT)
    async with EventLog(directory / "log.db", runner="test", clock=clock.now) as log:
        book, pad = ScheduleBook(Documents(directory / "documents.json"), log), Pad(log)
        sessions = SessionBook(log, output_blocks=10)
        keeper = Timekeeper(
            book=book,
            sessions=sessions,
            events=log,
            clock=clock,
            zone=UTC_ZONE,
            missed=missed,
            launch=pad.launch,
        )
        stage = Stage(keeper, book, pad, log, clock)
        if not serving:
            yield stage
            return
        async with keeper:
            yield stage
