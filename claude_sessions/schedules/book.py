"""The schedules that people have made, kept as documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self
from zoneinfo import ZoneInfo

from pydantic import BaseModel, model_validator

from claude_sessions import events as e
from claude_sessions.commands import Launch
from claude_sessions.errors import BadRequest, Conflict, NotFound
from claude_sessions.eventlog import EventLog
from claude_sessions.model import PermissionMode, Role, name_from
from claude_sessions.people import Caller
from claude_sessions.schedules.when import When, zone_of
from claude_sessions.storage.documents import Documents

MOST = 200


class ScheduleDocument(BaseModel):
    prompt: str
    cron: str | None = None
    at: datetime | None = None
    zone: str | None = None
    name: str | None = None
    directory: str
    model: str | None = None
    mode: PermissionMode | None = None
    budget_usd: float | None = None
    system_prompt: str | None = None
    allowed_tools: tuple[str, ...] = ()
    once: bool = False
    by: str
    role: Role
    agent: bool = False
    origin: str | None = None
    made_at: datetime
    since: datetime
    paused: bool = False
    last_due: datetime | None = None
    last_seq: int = 0
    last_session: str | None = None
    last_problem: str = ""

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        if (self.cron is None) == (self.at is None):
            raise ValueError("a schedule has a cron line or a time")
        try:
            When(cron=self.cron, at=self.at).next(self.since, zone_of(self.zone or "UTC"))
        except BadRequest as problem:
            raise ValueError(str(problem)) from problem
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    id: str
    prompt: str
    directory: str
    cron: str | None = None
    at: datetime | None = None
    zone: str | None = None  # None: the configured one
    name: str | None = None
    model: str | None = None
    mode: PermissionMode | None = None
    budget_usd: float | None = None
    system_prompt: str | None = None
    allowed_tools: tuple[str, ...] = ()
    once: bool = False
    by: str
    role: Role  # of whoever made it, when they made it
    agent: bool = False
    origin: str | None = None
    made_at: datetime
    since: datetime  # what was due before does not count
    paused: bool = False
    last_due: datetime | None = None  # written before its run is launched
    last_seq: int = 0  # of the log, at that moment
    last_session: str | None = None
    last_problem: str = ""

    @property
    def when(self) -> When:
        return When(cron=self.cron, at=self.at)

    @property
    def label(self) -> str:
        return self.name or name_from(self.prompt)

    @property
    def settled(self) -> datetime:
        """Whatever was due up to then has been dealt with."""
        return max(self.since, self.last_due) if self.last_due else self.since

    @property
    def unsettled(self) -> bool:
        """A run was written down, and what became of it was not."""
        return self.last_due is not None and not self.last_session and not self.last_problem

    def next(self, now: datetime, default: ZoneInfo) -> datetime | None:
        if self.paused:
            return None
        after = self.settled if self.at else max(self.settled, now)
        return self.when.next(after, self.in_zone(default))

    def latest(self, now: datetime, default: ZoneInfo) -> datetime | None:
        if self.paused:
            return None
        return self.when.latest(self.settled, now, self.in_zone(default))

    def in_zone(self, default: ZoneInfo) -> ZoneInfo:
        return zone_of(self.zone) if self.zone else default

    def caller(self) -> Caller:
        return Caller(
            name=self.by, role=self.role, door="schedule", channel=self.origin, agent=self.agent
        )

    def order(self) -> Launch:
        return Launch(
            prompt=self.prompt,
            name=self.name,
            directory=self.directory,
            model=self.model,
            mode=self.mode,
            budget_usd=self.budget_usd,
            system_prompt=self.system_prompt,
            allowed_tools=self.allowed_tools,
            once=self.once,
            origin=self.origin,
            queue=True,
        )


class ScheduleBook:
    """The log has who made, changed or removed what."""

    def __init__(self, documents: Documents, log: EventLog) -> None:
        self._table = documents.table("schedules", ScheduleDocument)
        self._log = log

    def all(self) -> list[Schedule]:
        return [Schedule(id=id_, **dict(doc)) for id_, doc in self._table.all().items()]

    def get(self, schedule_id: str) -> Schedule | None:
        doc = self._table.get(schedule_id)
        return None if doc is None else Schedule(id=schedule_id, **dict(doc))

    def find(self, ref: str) -> Schedule:
        """By id, else by the name its sessions get."""
        every = self.all()
        found = [s for s in every if s.id == ref] or [s for s in every if s.label == ref]
        if not found:
            raise NotFound(f"There is no schedule {ref[:60]}. /schedules lists them.")
        if len(found) > 1:
            ids = ", ".join(schedule.id for schedule in found)
            raise Conflict(f"Several schedules are called {ref}: say which, {ids}.")
        return found[0]

    async def add(self, schedule: Schedule, caller: str) -> None:
        if len(self._table.all()) >= MOST:
            raise Conflict(f"There are {MOST} schedules, the most there may be. Delete one first.")
        await self._log.append(e.Draft(payload=_added(schedule), caller=caller))
        self.put(schedule)

    async def pause(self, schedule: Schedule, caller: str) -> None:
        await self._changed(schedule, paused=True, caller=caller)
        self.update(schedule.id, paused=True)

    async def resume(self, schedule: Schedule, now: datetime, caller: str) -> None:
        """What was due meanwhile is not made up for."""
        await self._changed(schedule, paused=False, caller=caller)
        self.update(schedule.id, paused=False, since=max(schedule.since, now))

    async def _changed(self, schedule: Schedule, *, paused: bool, caller: str) -> None:
        fact = e.ScheduleChanged(schedule_id=schedule.id, paused=paused)
        await self._log.append(e.Draft(payload=fact, caller=caller))

    async def remove(self, schedule: Schedule, caller: str) -> None:
        fact = e.ScheduleRemoved(schedule_id=schedule.id)
        await self._log.append(e.Draft(payload=fact, caller=caller))
        self.forget(schedule.id)

    def update(self, schedule_id: str, **changes: object) -> None:
        """Nothing, if it was removed meanwhile."""
        if (schedule := self.get(schedule_id)) is not None:
            self.put(replace(schedule, **changes))  # type: ignore[arg-type]

    def put(self, schedule: Schedule) -> None:
        names = ScheduleDocument.model_fields
        fields = {name: getattr(schedule, name) for name in names}
        self._table.put(schedule.id, ScheduleDocument(**fields))

    def forget(self, schedule_id: str) -> None:
        self._table.remove(schedule_id)


def _added(schedule: Schedule) -> e.ScheduleAdded:
    return e.ScheduleAdded(
        schedule_id=schedule.id,
        cron=schedule.cron,
        at=schedule.at.timestamp() if schedule.at else None,
        zone=schedule.zone,
        prompt=schedule.prompt,
        name=schedule.name,
        directory=schedule.directory,
        permission_mode=schedule.mode,
        allowed_tools=schedule.allowed_tools,
        origin=schedule.origin,
    )
