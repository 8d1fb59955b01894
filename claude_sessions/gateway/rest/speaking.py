"""Saying something to a session.

What is said while it works is queued. `correlationId` is the message's id: the `turn.started` that
has it among its `messageIds` is where it was taken up.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import FailFast, Field

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.errors import Conflict
from claude_sessions.gateway.asking import Body
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND
from claude_sessions.gateway.rest.operation import Asked, NoQuery, Operation, Resource
from claude_sessions.gateway.rest.sessions import Text
from claude_sessions.people import Caller

LOOKED_AT = 50


class Attachment(Body):
    type: Literal["file"]
    path: Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f]+$")]
    """On the daemon's machine."""


class Message(Body):
    content: Text
    attachments: Annotated[tuple[Attachment, ...], FailFast(), Field(max_length=20)] = ()


class Slash(Body):
    command: Annotated[str, Field(max_length=100, pattern=r"^/?[A-Za-z0-9_:.-]+$")]
    """As compact; a / before it makes no difference."""
    args: Annotated[str, Field(max_length=100_000)] = ""


class TerminalOptions(Body):
    use_tmux: bool = False
    cols: Annotated[int, Field(ge=1, le=1000)] = 80
    rows: Annotated[int, Field(ge=1, le=1000)] = 24


class ModeChange(Body):
    mode: Literal["sdk", "pty"]
    pty_options: TerminalOptions | None = None


class Taken(Resource):
    event_id: str
    correlation_id: str


class Invoked(Resource):
    event_id: str
    correlation_id: str
    result: str | None = None


class ModeChanged(Resource):
    session_id: str
    previous_mode: Literal["sdk"]
    current_mode: Literal["sdk"]


async def send(house: House, asked: Asked[NoQuery, Message]) -> Any:
    named = [f"[{each.path} is attached: read it]" for each in asked.body.attachments]
    return await _said(house, asked.id, "\n".join([asked.body.content, *named]), asked.caller)


async def slash(house: House, asked: Asked[NoQuery, Slash]) -> Any:
    text = f"/{asked.body.command.removeprefix('/')} {asked.body.args}".strip()
    return await _said(house, asked.id, text, asked.caller)


async def _said(house: House, session: str, text: str, caller: Caller) -> Any:
    reply = await house.perform(c.Respond(session=session, text=text), caller)
    message = reply.data["messageId"]
    found = await house.log.tail_of(reply.session or "", [e.UserMessage.TYPE], LOOKED_AT)
    event = next((each for each in reversed(found) if _is(each.payload, message)), None)
    return {"eventId": event.id if event else message, "correlationId": message}


def _is(payload: e.Payload, message: str) -> bool:
    return isinstance(payload, e.UserMessage) and payload.message_id == message


async def change_mode(house: House, asked: Asked[NoQuery, ModeChange]) -> Any:
    asked.caller.must_be(c.Respond.ROLE, "change a session's mode")
    state = await house.pool.book.find(asked.id)
    if asked.body.mode == "pty":
        raise Conflict(f"There are no terminals here: {state.name} stays in sdk.")
    return {"sessionId": state.id, "previousMode": "sdk", "currentMode": "sdk"}


REFUSALS = (INVALID, FORBIDDEN, NOT_FOUND, CONFLICT)
OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/sessions/{id}/send",
        summary="Say something. It is queued while the session works.",
        act=send,
        query=NoQuery,
        body=Message,
        result=Taken,
        status=202,
        refusals=REFUSALS,
    ),
    Operation(
        method="POST",
        path="/sessions/{id}/slash",
        summary="A command of Claude's own, such as compact. What comes of it is in the timeline.",
        act=slash,
        query=NoQuery,
        body=Slash,
        result=Invoked,
        status=202,
        refusals=REFUSALS,
    ),
    Operation(
        method="POST",
        path="/sessions/{id}/mode",
        summary="Whether it is in a terminal. There are none yet.",
        act=change_mode,
        query=NoQuery,
        body=ModeChange,
        result=ModeChanged,
        refusals=REFUSALS,
    ),
)
