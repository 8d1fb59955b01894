"""The steps of a script as facts; the words that make them are in `words`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from claude_sessions.demo.gate import Gate
from claude_sessions.demo.request import Request


# Faults are equal only to themselves: `times` is counted for each place in the script.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HttpError:
    status: int
    kind: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hang:
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stall:
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drop:
    reset: bool = False
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Malformed:
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Overloaded:
    times: int | None = None


Refusal = HttpError | Hang
Break = Stall | Drop | Malformed | Overloaded
Fault = Refusal | Break

Words = str | Callable[[Request], str]
Part = Words | Gate | Break


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    parts: tuple[Part, ...]
    pace: float | None = None
    chunk: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    parts: tuple[Part, ...]
    signature: str
    pace: float | None = None
    chunk: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    tools: tuple[ToolUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    input: int = 10
    output: int = 10
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    values: Mapping[str, str]


Block = Text | Thinking | ToolUse | Parallel
Step = Block | Stop | Usage | Headers | Gate | Fault
