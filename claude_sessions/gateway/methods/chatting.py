"""A line of chat, as people type it: for whatever has no method of its own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from claude_sessions.commands.hearing import hear
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods.base import Method, Params, Shape
from claude_sessions.people import Caller


class LineParams(Params):
    line: Annotated[str, Field(min_length=1)]


class Offered(Shape):
    label: str
    line: str


class Said(Shape):
    text: str
    data: dict[str, Any]
    session: str | None
    actions: list[Offered]


async def chat(house: House, params: LineParams, caller: Caller) -> Any:
    reply = await hear(house.pool, params.line, caller)
    return {
        "text": reply.text,
        "data": reply.data,
        "session": reply.session,
        "actions": [{"label": each.label, "line": each.line} for each in reply.actions],
    }


METHODS: tuple[Method[Any], ...] = (
    Method(
        name="claude-code.chat",
        summary="Do what a line of chat says; /help lists what can be typed.",
        params=LineParams,
        result=Said,
        act=chat,
    ),
)
