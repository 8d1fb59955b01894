"""The terminal chat on a wire: what a client and the daemon say to each other, as JSON.

The client sends `Said`. A frame from the daemon has one key, which says what it is. What is read is
exactly what was written, `data` of a reply as far as it is JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from claude_sessions.channel import Notification
from claude_sessions.commands import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A line that was typed. `id`: what its answer carries too."""

    line: str
    id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The first frame. `channel`: what this connection is called from now on."""

    channel: str
    caller: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """To the line with that id. `error`: why not, as a code; the reply then says it to people."""

    id: int
    reply: Reply
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """What happened while they were away."""

    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    ref: str
    notification: Notification


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What that ref shows is this by now."""

    ref: str
    notification: Notification


Frame = Hello | Answer | Missed | Sent | Edited

NAMES: dict[type[Any], str] = {
    Hello: "hello",
    Answer: "reply",
    Missed: "missed",
    Sent: "send",
    Edited: "edit",
}
_ADAPTERS: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(kind) for kind, name in NAMES.items()}
_SAID = TypeAdapter(Said)


def frame_json(frame: Frame) -> bytes:
    name = NAMES[type(frame)]
    return b'{"%b":%b}' % (name.encode(), _ADAPTERS[name].dump_json(frame))


def read_frame(text: str | bytes) -> Frame | None:
    """None: a newer daemon says something we do not know."""
    told = orjson.loads(text)
    for name, value in told.items() if isinstance(told, dict) else ():
        if name in _ADAPTERS:
            try:
                frame: Frame = _ADAPTERS[name].validate_python(value)
            except ValidationError:
                return None
            return frame
    return None


def said_json(said: Said) -> str:
    return orjson.dumps({"line": said.line, "id": said.id}).decode()


def read_said(text: bytes) -> Said | None:
    """None: it is none."""
    try:
        return _SAID.validate_json(text, strict=True)
    except ValidationError:
        return None
