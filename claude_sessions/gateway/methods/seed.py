"""The five calls of the chat plugin, with exactly its parameters, results and sentences."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import FailFast, Field, model_validator
from pydantic.alias_generators import to_camel

from claude_sessions import commands as c
from claude_sessions.commands.finding import directory_for
from claude_sessions.errors import BadRequest, Conflict, PoolFull
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods.base import Method, Nothing, Params, Shape, Text
from claude_sessions.model import PermissionMode, Status
from claude_sessions.origins import UNKNOWN
from claude_sessions.people import Caller

KEPT = ("system_prompt", "allowed_tools", "multi_turn_disabled", "origin_channel")
GATEWAY = "gateway"  # where a session comes from that names no other channel


class ListParams(Params):
    status: Literal["all", "running", "completed", "failed", "killed", "asleep"] = "all"


class Listed(Shape):
    id: str
    name: str
    status: Status
    prompt: str
    workdir: str
    model: str | None
    cost_usd: float
    started_at: int
    completed_at: int | None
    duration_ms: int
    claude_session_id: str | None
    foreground: bool
    multi_turn: bool
    display: str


class Sessions(Shape):
    sessions: list[Listed]
    count: int


class LaunchParams(Params):
    prompt: Text
    name: str | None = None
    """A taken one gets a number; default: made from the prompt."""
    workdir: str | None = None
    """A directory, or a project's name; default: the configured one."""
    model: str | None = None
    max_budget_usd: Annotated[float | None, Field(ge=0, le=100_000)] = None
    """What it may spend; without, or with 0: the configured budget."""
    system_prompt: str | None = None
    """Added to Claude Code's own."""
    allowed_tools: Annotated[tuple[str, ...], FailFast(), Field(max_length=500)] = ()
    """What it need not ask for, as `Bash(npm test)`."""
    resume_session_id: str | None = None
    """Go on with this session (name, id or Claude's id) instead of starting one."""
    fork_session: bool = False
    """With resumeSessionId: branch off, and leave that session as it is."""
    multi_turn_disabled: bool = False
    """One turn, and it is over."""
    origin_channel: str | None = None
    """Who hears of it, as telegram|123456789; default: as configured."""
    permission_mode: PermissionMode | None = None
    queue: bool = False
    """Wait in line when every process is at work."""


class Launched(Shape):
    id: str
    name: str
    status: Status
    workdir: str
    model: str | None


class OneParams(Params):
    session: str | None = None
    """Its name or its id; required, unless `id` is given."""
    id: str | None = None
    """Another name for `session`."""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if not (self.session or self.id):
            raise ValueError("Missing required parameter: session (name or ID)")
        return self

    @property
    def ref(self) -> str:
        return self.session or self.id or ""


class Killed(Shape):
    id: str
    name: str
    status: Status
    message: str


class OutputParams(OneParams):
    lines: Annotated[int, Field(ge=1, le=100_000)] = 50
    """So many blocks, the last ones."""
    full: bool = False
    """All of them."""


class Output(Shape):
    id: str
    name: str
    status: Status
    cost_usd: float
    duration_ms: int
    duration: str
    lines: list[str]
    line_count: int
    result: str | None


class Dearest(Shape):
    id: str
    name: str
    cost_usd: float
    prompt: str


class Stats(Shape):
    total_cost_usd: float
    cost_per_day: dict[str, float]
    sessions_by_status: dict[str, int]
    """Runs: one that was resumed counts again when it ends, and one that sleeps not at all."""
    total_launched: int
    average_duration_ms: int
    most_expensive: Dearest | None
    display: str


async def sessions(house: House, params: ListParams, caller: Caller) -> Any:
    return await house.listing.told(params.status, caller)


async def launch(house: House, params: LaunchParams, caller: Caller) -> Any:
    try:
        reply = await house.perform(await _launching(house, params), caller)
    except PoolFull as error:
        most = house.settings.sessions.max_sessions
        raise Conflict(f"Max sessions reached ({most}). Kill a session first.") from error
    state = await house.pool.book.load(reply.session or "")
    return {
        "id": state.id,
        "name": state.name,
        "status": state.status.value,
        "workdir": state.spec.directory,
        "model": state.spec.model,
    }


async def _launching(house: House, params: LaunchParams) -> c.Command:
    if params.resume_session_id:
        if kept := [to_camel(name) for name in KEPT if getattr(params, name)]:
            given = ", ".join(kept)
            raise BadRequest(f"A session keeps what it was begun with: resume it without {given}.")
        return c.Resume(
            session=params.resume_session_id,
            prompt=params.prompt,
            fork=params.fork_session,
            name=params.name if params.fork_session else None,
            model=params.model,
            mode=params.permission_mode,
            budget_usd=params.max_budget_usd,
            directory=params.workdir,
            queue=params.queue,
        )
    return c.Launch(
        prompt=params.prompt,
        name=params.name,
        directory=params.workdir,
        model=params.model,
        mode=params.permission_mode,
        budget_usd=params.max_budget_usd,
        system_prompt=params.system_prompt,
        allowed_tools=params.allowed_tools,
        once=params.multi_turn_disabled,
        origin=params.origin_channel or await _origin(house, params.workdir),
        queue=params.queue,
    )


async def _origin(house: House, workdir: str | None) -> str:
    """Who is configured to hear of sessions there; a program that calls reads nowhere."""
    directory = await directory_for(house.pool, workdir)
    found = house.pool.origins.of(None, None, directory)
    return GATEWAY if found == UNKNOWN else found


async def kill(house: House, params: OneParams, caller: Caller) -> Any:
    reply = await house.perform(c.Kill(session=params.ref), caller)
    return {
        "id": reply.data["id"],
        "name": reply.data["name"],
        "status": reply.data["status"],
        "message": reply.text,
    }


async def output(house: House, params: OutputParams, caller: Caller) -> Any:
    command = c.Output(session=params.ref, lines=params.lines, full=params.full)
    reply = await house.perform(command, caller)
    state = await house.pool.book.load(reply.session or "")
    lines = list(reply.data["lines"])
    seconds = state.duration(house.clock.now())
    return {
        "id": state.id,
        "name": state.name,
        "status": state.status.value,
        "costUsd": state.cost_usd,
        "durationMs": round(seconds * 1000),
        "duration": duration(seconds),
        "lines": lines,
        "lineCount": len(lines),
        "result": lines[-1] if lines and state.status.ended else None,
    }


async def stats(house: House, params: Nothing, caller: Caller) -> Any:
    reply = await house.perform(c.Stats(), caller)
    told = {key: value for key, value in reply.data.items() if key != "costUnknownRuns"}
    return {**told, "display": reply.text}


def duration(seconds: float) -> str:
    whole = max(int(seconds), 0)
    return f"{whole // 60}m{whole % 60}s" if whole >= 60 else f"{whole}s"


METHODS: tuple[Method[Any], ...] = (
    Method(
        name="claude-code.sessions",
        summary="List the sessions, the one touched last first.",
        params=ListParams,
        result=Sessions,
        act=sessions,
    ),
    Method(
        name="claude-code.launch",
        summary="Start a session, or go on with one.",
        params=LaunchParams,
        result=Launched,
        act=launch,
    ),
    Method(
        name="claude-code.kill",
        summary="End a session; it can be resumed. One that has ended already is no error.",
        params=OneParams,
        result=Killed,
        act=kill,
    ),
    Method(
        name="claude-code.output",
        summary="What a session said last, in blocks.",
        params=OutputParams,
        result=Output,
        act=output,
    ),
    Method(
        name="claude-code.stats",
        summary="Figures over all sessions.",
        params=Nothing,
        result=Stats,
        act=stats,
    ),
)
