"""Where work is found, what starts by the clock, and how things stand."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from claude_sessions import commands as c
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods.base import Method, Nothing, Params, Shape, Text
from claude_sessions.model import PermissionMode
from claude_sessions.people import Caller


class SearchParams(Params):
    search: str | None = None
    """Part of a name or a path."""


class Project(Shape):
    id: str
    name: str
    path: str
    git_remote: str | None
    git_branch: str | None
    is_dirty: bool | None
    has_claude_config: bool
    last_modified: str | None
    session_count: int


class Projects(Shape):
    projects: list[Project]


class Scheduled(Shape):
    id: str
    name: str
    cron: str | None
    next: str | None
    paused: bool
    session: str | None


class Schedules(Shape):
    schedules: list[Scheduled]


class ScheduleParams(Params):
    when: Text
    """A cron line (0 9 * * 1-5), in 2h, or at 18:30."""
    prompt: Text
    name: str | None = None
    workdir: str | None = None
    """A directory, or a project's name; default: the configured one."""
    zone: str | None = None
    """As Europe/Berlin; default: this machine's."""
    model: str | None = None
    permission_mode: PermissionMode | None = None
    max_budget_usd: Annotated[float | None, Field(gt=0, le=100_000)] = None
    once: bool = False
    """Each session is one turn."""


class OneParams(Params):
    schedule: Text
    """Its id or its name."""


class Changed(Shape):
    schedule: str
    name: str
    text: str


class Ran(Shape):
    text: str
    session: str | None


class Standing(Shape):
    uptime_seconds: int
    ok: bool
    pool: dict[str, int]
    doors: dict[str, dict[str, Any]]
    versions: dict[str, str]
    text: str


async def projects(house: House, params: SearchParams, caller: Caller) -> Any:
    return (await house.perform(c.ListProjects(search=params.search, full=True), caller)).data


async def schedules(house: House, params: Nothing, caller: Caller) -> Any:
    return (await house.perform(c.ListSchedules(), caller)).data


async def add_schedule(house: House, params: ScheduleParams, caller: Caller) -> Any:
    order = c.Launch(
        prompt=params.prompt,
        name=params.name,
        directory=params.workdir,
        model=params.model,
        mode=params.permission_mode,
        budget_usd=params.max_budget_usd,
        once=params.once,
    )
    command = c.AddSchedule(when=params.when, order=order, zone=params.zone)
    return _changed(await house.perform(command, caller))


async def pause(house: House, params: OneParams, caller: Caller) -> Any:
    return _changed(await house.perform(c.PauseSchedule(schedule=params.schedule), caller))


async def resume(house: House, params: OneParams, caller: Caller) -> Any:
    return _changed(await house.perform(c.ResumeSchedule(schedule=params.schedule), caller))


async def delete(house: House, params: OneParams, caller: Caller) -> Any:
    return _changed(await house.perform(c.DeleteSchedule(schedule=params.schedule), caller))


async def run(house: House, params: OneParams, caller: Caller) -> Any:
    reply = await house.perform(c.RunSchedule(schedule=params.schedule), caller)
    return {"text": reply.text, "session": reply.session}


def _changed(reply: c.Reply) -> dict[str, Any]:
    return {**reply.data, "text": reply.text}


async def status(house: House, params: Nothing, caller: Caller) -> Any:
    reply = await house.perform(c.Status(), caller)
    return {**reply.data, "text": reply.text}


METHODS: tuple[Method[Any], ...] = (
    Method(
        name="claude-code.projects",
        summary="The directories with work in them.",
        params=SearchParams,
        result=Projects,
        act=projects,
    ),
    Method(
        name="claude-code.schedules",
        summary="What starts sessions by the clock.",
        params=Nothing,
        result=Schedules,
        act=schedules,
    ),
    Method(
        name="claude-code.schedules.add",
        summary="Start a session by the clock: a cron line, `in 2h` or `at 18:30`.",
        params=ScheduleParams,
        result=Changed,
        act=add_schedule,
    ),
    Method(
        name="claude-code.schedules.pause",
        summary="Let a schedule rest.",
        params=OneParams,
        result=Changed,
        act=pause,
    ),
    Method(
        name="claude-code.schedules.resume",
        summary="Let a schedule go on.",
        params=OneParams,
        result=Changed,
        act=resume,
    ),
    Method(
        name="claude-code.schedules.delete",
        summary="Take a schedule away.",
        params=OneParams,
        result=Changed,
        act=delete,
    ),
    Method(
        name="claude-code.schedules.run",
        summary="Run a schedule now, whatever its time.",
        params=OneParams,
        result=Ran,
        act=run,
    ),
    Method(
        name="claude-code.status",
        summary="How the daemon, its doors and its pool stand.",
        params=Nothing,
        result=Standing,
        act=status,
    ),
)
