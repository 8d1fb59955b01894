"""The seam between a session and whatever runs Claude.

A session opens a `Conversation`, gives it messages one at a time, and reads what happens as a
stream of the small facts below. Nothing of the SDK leaks past this folder.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from claude_sessions.model import PermissionMode, SessionSpec

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What somebody says to Claude. `steer`: into the running turn, at its next tool boundary."""

    id: str
    text: str
    attachments: tuple[Json, ...] = ()
    steer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Claude wants to use a tool and needs a word."""

    tool_use_id: str
    tool_name: str
    input: dict[str, Any]
    suggestions: tuple[Json, ...] = ()
    description: str = ""
    reason: str = ""
    agent_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`input` replaces Claude's own; None echoes it. `message` tells Claude why not."""

    allow: bool
    input: dict[str, Any] | None = None
    message: str = ""
    set_mode: PermissionMode | None = None


Asker = Callable[[Ask], Awaitable[Answer]]


class EngineEvent:
    """One of the facts below."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegan(EngineEvent):
    """Claude took up work. It says so at the start of every turn, its own included."""

    claude_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(EngineEvent):
    """The model is being asked: silence is normal until it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(EngineEvent):
    block: str
    offset: int
    text: str
    thinking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(EngineEvent):
    block: str
    text: str
    thinking: bool = False
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(EngineEvent):
    id: str
    name: str
    input: Json
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What a tool did to a file. `patch`: hunks of a unified diff; empty when there is too much."""

    file: str
    patch: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(EngineEvent):
    id: str
    content: str
    is_error: bool = False
    parent: str | None = None
    edit: Edit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgressed(EngineEvent):
    id: str
    name: str
    elapsed_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTaken(EngineEvent):
    """The CLI took this message into a turn."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerGiven(EngineEvent):
    """The answer to an ask has been written to Claude."""

    tool_use_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskWithdrawn(EngineEvent):
    """The CLI no longer waits for an answer."""

    tool_use_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOver(EngineEvent):
    """`reason` is Claude's terminal reason; the only judge of how a turn ended."""

    reason: str
    is_error: bool = False
    error: str | None = None
    text: str = ""
    cost_usd: float = 0.0
    usage: Json = field(default_factory=dict)
    model_usage: Json = field(default_factory=dict)
    context_tokens: int = 0
    context_window: int = 0
    injected: bool = False
    local: bool = False  # the CLI answered by itself: a slash command, or a prompt it refused
    remark: str = ""  # what it said about that
    leaf: str = ""  # Claude's id of the last message
    num_turns: int = 0

    @property
    def interrupted(self) -> bool:
        return self.reason in ("aborted_streaming", "aborted_tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeSet(EngineEvent):
    mode: PermissionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBegan(EngineEvent):
    id: str
    description: str
    kind: str = ""
    tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOver(EngineEvent):
    id: str
    status: str
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksListed(EngineEvent):
    """All background tasks there are now."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacting(EngineEvent):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(EngineEvent):
    trigger: str = ""
    pre_tokens: int = 0
    post_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited(EngineEvent):
    """A usage limit of the account refuses further work."""

    message: str
    resets_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginNeeded(EngineEvent):
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(EngineEvent):
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(EngineEvent):
    """Something happened that nobody needs to know, but it is a sign of life."""


class Conversation(Protocol):
    """One live process. One task owns it from open to close.

    Iterating ends when `close` was called and raises `EngineError` when Claude dies. Events come
    in the order they happened. `close` may be called twice, is bounded in time, survives the
    cancellation of its caller, and leaves no process behind.
    """

    version: str | None
    commands: tuple[str, ...]  # its own slash commands

    @property
    def pid(self) -> int | None: ...
    def __aiter__(self) -> AsyncIterator[EngineEvent]: ...
    async def send(self, message: Message) -> None: ...
    async def interrupt(self) -> None: ...
    async def set_mode(self, mode: PermissionMode) -> None: ...
    async def set_model(self, model: str | None) -> None: ...
    async def stop_task(self, task_id: str) -> None: ...
    async def rewindable(self, message_id: str) -> tuple[str, ...]:
        """The files that differ from what they were before this message, by absolute path.

        Only those that Claude's own tools ever changed; not what a subagent did. Raises
        `EngineError` where there is no checkpoint.
        """
        ...

    async def rewind(self, message_id: str) -> None:
        """Put all of those back, whoever changed them. Not refused while a turn runs."""
        ...

    def abandon(self) -> None:
        """Begin to close, without waiting for it."""
        ...

    async def close(self) -> None: ...


class Engine(Protocol):
    async def open(
        self,
        spec: SessionSpec,
        *,
        ask: Asker,
        claude_id: str,
        resume: str | None = None,
        fork: bool = False,
        fork_at: str | None = None,
        budget_usd: float | None = None,
    ) -> Conversation:
        """Start Claude; raises `EngineError` with a sentence that says why it did not start.

        `claude_id` names a new conversation (or the fork); `resume` continues an old one;
        `fork_at` is the last message of it that the fork has.
        A conversation that is open in another program raises `LiveElsewhere`.
        """
        ...
