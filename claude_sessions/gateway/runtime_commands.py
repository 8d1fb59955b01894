"""What a client of the runtime envelope wants: frames to wishes. Pure and total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

GO_ON = "continue"
MISSING_RUN = "Runtime command missing runId"


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    run_id: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    run_id: str
    prompt_id: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Abort:
    resumable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    message: str


Wish = Send | Reply | Abort | Resume


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A frame that is no command. `mistaken`: it said that it was one."""

    why: str
    mistaken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """`echo`: the command as it came, as JSON. Without a wish there is a problem."""

    echo: bytes
    wish: Wish | None = None
    problem: str = ""


def read(frame: bytes) -> Received | Ignored:
    try:
        found = orjson.loads(frame)
    except ValueError:
        return Ignored(why="not JSON")
    kind = found.get("type") if isinstance(found, dict) else None
    if kind == "event":
        return Ignored(why="an event from a client")
    if kind != "command":
        return Ignored(why="an unknown type")
    command = found.get("command")
    if not isinstance(command, dict):
        return Ignored(why="the command is missing", mistaken=True)
    try:
        echo = orjson.dumps(command)
    except TypeError:  # it reads what is nested deeper than it writes
        return Ignored(why="nested too deeply", mistaken=True)
    wish = _wish(command)
    if isinstance(wish, str):
        return Received(echo=echo, problem=wish)
    return Received(echo=echo, wish=wish)


def _wish(command: Mapping[str, Any]) -> Wish | str:
    """Or why there is none."""
    match command.get("type"):
        case "send" | "reply":
            return _said(command)
        case "abort":
            return Abort(resumable=command.get("resumable") is True)
        case "pause":  # as later versions of the original say it
            return Abort(resumable=True)
        case "stop":
            return Abort(resumable=False)
        case "resume":
            message = command.get("message")
            if isinstance(message, str | None):
                return Resume(message=message or GO_ON)
            return "The message has to be a string."
    return "An unknown command."


def _said(command: Mapping[str, Any]) -> Wish | str:
    run_id = command.get("runId")
    if not run_id or not isinstance(run_id, str):
        return MISSING_RUN
    if command["type"] == "send":
        message = command.get("message")
        if not message or not isinstance(message, str):
            return "The message has to be a string with something in it."
        return Send(run_id=run_id, message=message)
    prompt_id, content = command.get("promptId"), command.get("content")
    if not isinstance(prompt_id, str) or not content or not isinstance(content, str):
        return "A reply needs promptId and content, both strings."
    return Reply(run_id=run_id, prompt_id=prompt_id, content=content)
