"""Runs what is due, once: a run is written down before it is launched, so no crash repeats it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal
from zoneinfo import ZoneInfo

import structlog

from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.commands import Launch, Reply
from claude_sessions.errors import Conflict, NotFound, SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Status
from claude_sessions.people import Caller
from claude_sessions.schedules.book import Schedule, ScheduleBook
from claude_sessions.schedules.unsettled import session_of
from claude_sessions.sessions.book import SessionBook
from claude_sessions.state import SessionState

Launcher = Callable[[Launch, Caller], Awaitable[Reply]]
Outcome = Reply | SessionsError | None  # of a launch; None: there was none
Work = Callable[[], Awaitable[Outcome]]

GRACE = timedelta(seconds=90)  # whatever is later than that was missed
LOOK_SECONDS = 60.0  # a sleeping machine's timers stand still, its clock does not: look again
STOP_SECONDS = 5.0

STILL_WORKS = "the last one still works"
MISSED = "claude-sessions was not running then"
NOT_STARTED = "it did not start, claude-sessions was stopped at that moment"

BUSY = frozenset({Status.STARTING, Status.PARKED})

log = structlog.get_logger()


class Timekeeper:
    """Open it with `async with`, once `launch` can be called.

    After a jump of the clock, or a time without a daemon, each schedule runs at most once.
    """

    def __init__(
        self,
        *,
        book: ScheduleBook,
        sessions: SessionBook,
        events: EventLog,
        clock: Clock,
        zone: ZoneInfo,
        missed: Literal["skip", "catch_up"],
        launch: Launcher,
    ) -> None:
        self.book = book
        self.zone = zone
        self._sessions = sessions
        self._events = events
        self._clock = clock
        self._missed = missed
        self._launch = launch
        self._group = asyncio.TaskGroup()
        self._runs: dict[str, asyncio.Task[Outcome]] = {}  # schedule → what deals with its run
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Timekeeper:
        await self._group.__aenter__()
        self._watch = self._group.create_task(self._keep_time(), name="schedules")
        return self

    async def __aexit__(self, *failure: Any) -> None:
        """A launch on its way has some seconds; one that still waits in line is given up."""
        self._watch.cancel()
        if runs := list(self._runs.values()):
            for late in (await asyncio.wait(runs, timeout=STOP_SECONDS))[1]:
                late.cancel()
        await self._group.__aexit__(None, None, None)

    def look(self) -> None:
        """Something was added or changed."""
        self._changed.set()

    def starting(self, schedule_id: str) -> bool:
        return schedule_id in self._runs

    # --- waiting

    async def _keep_time(self) -> None:
        await self._name_the_unsettled()
        while True:
            self._changed.clear()
            await self._rest(self._look_around())

    def _look_around(self) -> float | None:
        """Sees to what is due; gives how long to rest, None: until something changes."""
        try:
            schedules = self.book.all()
        except SessionsError as problem:
            log.error("schedules.unreadable", problem=str(problem))
            return LOOK_SECONDS
        now = self._clock.now()
        for schedule in schedules:
            due = schedule.latest(now, self.zone)
            if due is not None and not self.starting(schedule.id):
                late = now - due > GRACE
                self._spawn(schedule, partial(self._come_due, schedule, due, late=late))
        waits = [at - now for s in schedules if (at := s.next(now, self.zone))]
        if not waits:
            return None if all(schedule.paused for schedule in schedules) else LOOK_SECONDS
        return min(max(min(waits).total_seconds(), 0.0), LOOK_SECONDS)

    async def _rest(self, seconds: float | None) -> None:
        """Ends early when something changes."""
        changed = asyncio.create_task(self._changed.wait(), name="schedules.changed")
        wakers: list[asyncio.Task[Any]] = [changed]
        if seconds is not None:
            wakers.append(asyncio.create_task(self._clock.sleep(seconds), name="schedules.rest"))
        try:
            await asyncio.wait(wakers, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waker in wakers:
                waker.cancel()

    def _spawn(self, schedule: Schedule, work: Work) -> asyncio.Task[Outcome]:
        task = self._group.create_task(self._guarded(schedule.id, work), name=f"due:{schedule.id}")
        self._runs[schedule.id] = task
        return task

    async def _guarded(self, schedule_id: str, work: Work) -> Outcome:
        """What goes wrong with one is no other's business; it is tried again at the next look."""
        try:
            outcome = await work()
            self._changed.set()
            return outcome
        except Exception:
            log.exception("schedule.failed", schedule=schedule_id)
            return None
        finally:
            self._runs.pop(schedule_id, None)

    # --- running

    async def _come_due(self, schedule: Schedule, due: datetime, *, late: bool) -> Outcome:
        if late and self._missed == "skip":
            await self._skip(schedule, due, MISSED)
        elif await self.working(schedule) is not None:
            await self._skip(schedule, due, STILL_WORKS)
        elif self._claim(schedule.id, due, scheduled=True):
            return await self._run(schedule, due)
        return None

    async def run_now(self, schedule: Schedule) -> Reply:
        """Its launch goes on even if whoever asked for it has gone meanwhile."""
        if (state := await self.working(schedule)) is not None:
            raise Conflict(f"{state.name} still works. Wait for it, or /kill {state.name}")
        due = max(self._clock.now(), schedule.settled)
        if self.starting(schedule.id) or not self._claim(schedule.id, due):
            raise Conflict(f"{schedule.label} is being started already, or was deleted.")
        outcome = await asyncio.shield(
            self._spawn(schedule, partial(self._run, schedule, due, quiet=True))
        )
        if outcome is None:
            raise Conflict(f"{schedule.label} could not be started. The daemon's log says why.")
        if isinstance(outcome, SessionsError):
            raise outcome
        return outcome

    async def working(self, schedule: Schedule) -> SessionState | None:
        """The session of its last run, while that has something to do."""
        if schedule.last_session is None:
            return None
        try:
            state = await self._sessions.find(schedule.last_session)
        except NotFound:
            return None
        busy = state.turn is not None or bool(state.queue)
        works = state.in_line or state.status in BUSY
        works |= state.status is Status.RUNNING and busy
        return state if works else None

    def _claim(self, schedule_id: str, due: datetime, *, scheduled: bool = False) -> bool:
        """Written down before anything happens; False: it is no longer to be run."""
        now = self.book.get(schedule_id)
        if now is None or (scheduled and (now.paused or now.settled >= due)):
            return False
        claimed = replace(now, last_due=due, last_session=None, last_problem="")
        self.book.put(replace(claimed, last_seq=self._events.head))
        return True

    async def _run(self, schedule: Schedule, due: datetime, *, quiet: bool = False) -> Outcome:
        """`quiet`: whoever wants it run waits for the outcome, and need not be told of it."""
        try:
            reply = await self._launch(schedule.order(), schedule.caller())
        except SessionsError as problem:
            await self._skip(schedule, due, str(problem), quiet=quiet)
            return problem
        await self._fired(schedule, due, reply.session)
        return reply

    async def _fired(self, schedule: Schedule, due: datetime, session: str | None) -> None:
        fact = e.ScheduleFired(schedule_id=schedule.id, due=due.timestamp(), session=session)
        await self._append(schedule, fact)
        if schedule.at is not None:
            self.book.forget(schedule.id)  # it has had its run
        else:
            self.book.update(schedule.id, last_session=session)

    async def _skip(
        self, schedule: Schedule, due: datetime, reason: str, *, quiet: bool = False
    ) -> None:
        fact = e.ScheduleSkipped(
            schedule_id=schedule.id,
            due=due.timestamp(),
            reason=reason,
            name=schedule.label,
            origin=schedule.origin,
            quiet=quiet or reason == schedule.last_problem != MISSED,
        )
        await self._append(schedule, fact)
        self.book.update(schedule.id, last_due=due, last_problem=reason)

    async def _append(self, schedule: Schedule, fact: e.Payload) -> None:
        await self._events.append(e.Draft(payload=fact, caller=str(schedule.caller())))

    # --- after a crash

    async def _name_the_unsettled(self) -> None:
        try:
            for schedule in self.book.all():
                if schedule.last_due is not None and schedule.unsettled:
                    await self._settle(schedule, schedule.last_due)
        except SessionsError as problem:
            log.error("schedules.unsettled", problem=str(problem))

    async def _settle(self, schedule: Schedule, due: datetime) -> None:
        session = await session_of(self._events, schedule)
        if session is not None:
            await self._fired(schedule, due, session)
        else:
            await self._skip(schedule, due, NOT_STARTED)
