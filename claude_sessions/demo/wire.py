"""Answers as the Messages API sends them: a row of cues, each an event or a reason to wait."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

import orjson

from claude_sessions.demo.conversation import Json
from claude_sessions.demo.gate import Gate
from claude_sessions.demo.request import Request
from claude_sessions.demo.script import Answer
from claude_sessions.demo.steps import (
    Block,
    Break,
    Fault,
    Headers,
    Parallel,
    Refusal,
    Step,
    Stop,
    Text,
    Thinking,
    ToolUse,
    Usage,
)

NewId = Callable[[str], str]
WORD = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    data: Json


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Cue = Event | Pause | Gate | Fault


def cues(answer: Answer, request: Request, new_id: NewId) -> Iterator[Cue]:
    """Everything that happens while an answer is given, in order."""
    usage = next((step for step in answer.steps if isinstance(step, Usage)), Usage())
    silent = list(takewhile(lambda step: not isinstance(step, Block | Break | Stop), answer.steps))
    yield from (step for step in silent if isinstance(step, Gate | Refusal))
    yield message_start(request.model, usage, new_id("msg"))
    index = 0
    for step in answer.steps[len(silent) :]:
        for part in step.tools if isinstance(step, Parallel) else (step,):
            yield from block_cues(part, index, request, new_id)
            index += isinstance(part, Block)
    yield from message_end(answer.stop_reason, usage)


def block_cues(step: Step, index: int, request: Request, new_id: NewId) -> Iterator[Cue]:
    match step:
        case Text():
            yield block_start(index, {"type": "text", "text": ""})
            yield from speech(step, index, request, "text")
            yield block_stop(index)
        case Thinking(signature=signature):
            yield block_start(index, {"type": "thinking", "thinking": "", "signature": ""})
            yield from speech(step, index, request, "thinking")
            yield block_delta(index, {"type": "signature_delta", "signature": signature})
            yield block_stop(index)
        case ToolUse(name=name):
            tool = {"type": "tool_use", "id": new_id("toolu"), "name": name, "input": {}}
            yield block_start(index, tool)
            given = orjson.dumps(arguments(step, request)).decode()
            yield block_delta(index, {"type": "input_json_delta", "partial_json": given})
            yield block_stop(index)
        case Parallel() | Usage() | Headers() | Stop():
            return
        case _:
            yield step


def speech(step: Text | Thinking, index: int, request: Request, kind: str) -> Iterator[Cue]:
    for part in step.parts:
        if isinstance(part, Gate | Break):
            yield part
            continue
        for chunk in chunks(part(request) if callable(part) else part, step.chunk):
            if step.pace:
                yield Pause(1 / step.pace)
            yield block_delta(index, {"type": f"{kind}_delta", kind: chunk})


def arguments(tool: ToolUse, request: Request) -> Json:
    return {
        name: value(request) if callable(value) else value for name, value in tool.input.items()
    }


def chunks(text: str, size: int | None) -> list[str]:
    if size is None:
        return WORD.findall(text)
    return [text[start : start + size] for start in range(0, len(text), size)]


def message_start(model: str, usage: Usage, message_id: str) -> Event:
    message: Json = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage_json(usage) | {"output_tokens": 1},
    }
    return event("message_start", message=message)


def message_end(stop_reason: str, usage: Usage) -> Iterator[Event]:
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    yield event("message_delta", delta=delta, usage=usage_json(usage))
    yield event("message_stop")


def usage_json(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }


def block_start(index: int, block: Json) -> Event:
    return event("content_block_start", index=index, content_block=block)


def block_delta(index: int, delta: Json) -> Event:
    return event("content_block_delta", index=index, delta=delta)


def block_stop(index: int) -> Event:
    return event("content_block_stop", index=index)


def event(name: str, **data: object) -> Event:
    return Event(name, {"type": name, **data})


def failure(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


def sse(event: Event) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event.name.encode(), orjson.dumps(event.data))


def whole(events: Iterable[Event]) -> Json:
    """The events of one answer as the message that a request without streaming gets."""
    message: Json = {}
    content: list[Json] = []
    for event in events:
        match event.data:
            case {"type": "message_start", "message": dict(start)}:
                message = dict(start)
            case {"type": "content_block_start", "content_block": dict(block)}:
                content.append(dict(block))
            case {"type": "content_block_delta", "delta": dict(delta)}:
                extend(content[-1], delta)
            case {"type": "message_delta", "delta": dict(delta), "usage": dict(usage)}:
                message |= {**delta, "usage": usage}
    return message | {"content": content}


def extend(block: Json, delta: Json) -> None:
    match delta:
        case {"type": "input_json_delta", "partial_json": str(given)}:
            block["input"] = orjson.loads(given)
        case {"type": "text_delta", "text": str(text)}:
            block["text"] += text
        case {"type": "thinking_delta", "thinking": str(text)}:
            block["thinking"] += text
        case {"type": "signature_delta", "signature": str(text)}:
            block["signature"] = text
