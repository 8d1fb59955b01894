"""Speaking to sessions, and taking them up again."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from claude_sessions import commands as c
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods.base import Method, Params, Shape, Text
from claude_sessions.gateway.methods.seed import OneParams
from claude_sessions.model import PermissionMode, Status
from claude_sessions.people import Caller

Dollars = Annotated[float, Field(gt=0, le=100_000)]


class RespondParams(OneParams):
    message: Text
    interrupt: bool = False
    """Instead of the turn that runs."""
    steer: bool = False
    """Into the turn that runs."""
    queue: bool = False
    """Wait in line when every process is at work."""

    @model_validator(mode="after")
    def _has_one_way(self) -> Self:
        if self.steer and self.interrupt:
            raise ValueError("steer and interrupt exclude each other")
        return self


class Said(Shape):
    id: str
    name: str
    status: Status
    message_id: str
    queued: int
    text: str


class Told(Shape):
    id: str
    name: str
    status: Status
    text: str


class ResumeParams(OneParams):
    prompt: Text = c.DEFAULT_RESUME_PROMPT
    workdir: str | None = None
    model: str | None = None
    permission_mode: PermissionMode | None = None
    max_budget_usd: Dollars | None = None
    queue: bool = False
    """Wait in line when every process is at work."""


class ForkParams(ResumeParams):
    name: str | None = None
    turn: Annotated[int | None, Field(ge=1)] = None
    """The one to branch off after; default: the last."""


class LineParams(Params):
    line: Text
    """As it is typed in a chat: /diff fix-auth."""


class Action(Shape):
    label: str
    line: str
    needs_text: bool


class Heard(Shape):
    text: str
    session: str | None
    data: dict[str, Any]
    actions: list[Action]


async def respond(house: House, params: RespondParams, caller: Caller) -> Any:
    command = c.Respond(
        session=params.ref,
        text=params.message,
        interrupt=params.interrupt,
        steer=params.steer,
        queue=params.queue,
    )
    reply = await house.perform(command, caller)
    state = await house.pool.book.load(reply.session or "")
    known = {"id": state.id, "name": state.name, "status": state.status.value}
    return {**known, **reply.data, "text": reply.text}


async def interrupt(house: House, params: OneParams, caller: Caller) -> Any:
    return _told(await house.perform(c.Interrupt(session=params.ref), caller))


async def resume(house: House, params: ResumeParams, caller: Caller) -> Any:
    return _told(await house.perform(_resume(params), caller))


async def fork(house: House, params: ForkParams, caller: Caller) -> Any:
    command = _resume(params, fork=True, name=params.name, turn=params.turn)
    return _told(await house.perform(command, caller))


def _resume(params: ResumeParams, **more: Any) -> c.Resume:
    return c.Resume(
        session=params.ref,
        prompt=params.prompt,
        directory=params.workdir,
        model=params.model,
        mode=params.permission_mode,
        budget_usd=params.max_budget_usd,
        queue=params.queue,
        **more,
    )


def _told(reply: c.Reply) -> dict[str, Any]:
    return {**{key: reply.data[key] for key in ("id", "name", "status")}, "text": reply.text}


async def chat(house: House, params: LineParams, caller: Caller) -> Any:
    reply = await house.hear(params.line, caller)
    return {
        "text": reply.text,
        "session": reply.session,
        "data": reply.data,
        "actions": [
            {"label": each.label, "line": each.line, "needsText": each.needs_text}
            for each in reply.actions
        ],
    }


METHODS: tuple[Method[Any], ...] = (
    Method(
        name="claude-code.respond",
        summary="Say something to a session. A busy one queues it, or takes it into its turn.",
        params=RespondParams,
        result=Said,
        act=respond,
    ),
    Method(
        name="claude-code.interrupt",
        summary="Stop what a session is doing; it stays.",
        params=OneParams,
        result=Told,
        act=interrupt,
    ),
    Method(
        name="claude-code.resume",
        summary="Go on with a session, by its name, its id or any of Claude's ids.",
        params=ResumeParams,
        result=Told,
        act=resume,
    ),
    Method(
        name="claude-code.fork",
        summary="Branch off from a session, also after one of its turns.",
        params=ForkParams,
        result=Told,
        act=fork,
    ),
    Method(
        name="claude-code.chat",
        summary="A line as it is typed in a chat: /new, /queue, /diff … or plain text.",
        params=LineParams,
        result=Heard,
        act=chat,
    ),
)
