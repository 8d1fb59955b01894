"""The conversation: what is said, done and asked in turns, and in the background."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from claude_sessions.events.base import Json, Payload
from claude_sessions.model import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage(Payload):
    """Accepted from somebody; Claude gets it when its turn comes, or at once when steering."""

    TYPE: ClassVar[str] = "user.message"
    message_id: str
    text: str
    attachments: tuple[Json, ...] = ()
    steer: bool = False  # into the running turn
    front: bool = False  # before whatever else is queued


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSent(Payload):
    """About to be written to the CLI. The CLI does not de-duplicate: never send it twice."""

    TYPE: ClassVar[str] = "message.sent"
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageConsumed(Payload):
    """The CLI took it into a turn."""

    TYPE: ClassVar[str] = "message.consumed"
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWithdrawn(Payload):
    TYPE: ClassVar[str] = "message.withdrawn"
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReturned(Payload):
    """Claude's own file shows that it was never taken in: it is queued again, in front."""

    TYPE: ClassVar[str] = "message.returned"
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalMessage(Payload):
    """Somebody spoke to the conversation in a terminal of their own while we had no process."""

    TYPE: ClassVar[str] = "terminal.message"
    message_id: str
    text: str
    transcript_bytes: int  # read so far


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Payload):
    TYPE: ClassVar[str] = "turn.started"
    message_ids: tuple[str, ...] = ()
    injected: bool = False  # begun by Claude itself: a background task ended


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCompleted(Payload):
    TYPE: ClassVar[str] = "turn.completed"
    reason: str = "completed"  # Claude's terminal reason
    is_error: bool = False
    error: str | None = None
    usage: Json = field(default_factory=dict)
    model_usage: Json = field(default_factory=dict)
    cost_usd: float = 0.0
    duration_ms: int = 0
    context_tokens: int = 0
    context_window: int = 0
    leaf: str = ""  # Claude's id of the last message: where a fork may branch off
    num_turns: int = 0  # as Claude counts them: answers of the model


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInterrupted(Payload):
    TYPE: ClassVar[str] = "turn.interrupted"
    reason: Reason
    partial_text: str = ""
    cost_usd: float | None = None  # None: never reported
    duration_ms: int = 0
    last: bool = False  # its run ends with it


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUndone(Payload):
    """Files are again as they were before the turn; what was said in it stays said."""

    TYPE: ClassVar[str] = "turn.undone"
    files: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # not put back: there is no checkpoint of what a subagent does


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage(Payload):
    TYPE: ClassVar[str] = "assistant.message"
    text: str
    block: str = ""  # the block whose deltas this supersedes
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantThought(Payload):
    TYPE: ClassVar[str] = "assistant.thought"
    text: str
    block: str = ""
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequested(Payload):
    TYPE: ClassVar[str] = "tool.requested"
    tool_name: str
    tool_use_id: str
    input: Json
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput(Payload):
    TYPE: ClassVar[str] = "tool.output"
    tool_use_id: str
    content: str
    is_error: bool = False
    parent_tool_use_id: str | None = None
    file: str = ""  # that it changed, as Claude names it
    patch: str = ""  # how: hunks of a unified diff; empty also when there was too much of it
    added: int = 0  # lines
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCompleted(Payload):
    TYPE: ClassVar[str] = "tool.completed"
    tool_use_id: str
    duration_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashInvoked(Payload):
    TYPE: ClassVar[str] = "slash.invoked"
    command: str
    args: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashResult(Payload):
    TYPE: ClassVar[str] = "slash.result"
    command: str
    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompacting(Payload):
    TYPE: ClassVar[str] = "context.compacting"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompacted(Payload):
    TYPE: ClassVar[str] = "context.compacted"
    trigger: str = ""
    pre_tokens: int = 0
    post_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted(Payload):
    TYPE: ClassVar[str] = "task.started"
    task_id: str
    description: str
    kind: str = ""
    tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnded(Payload):
    TYPE: ClassVar[str] = "task.ended"
    task_id: str
    status: str
    summary: str = ""
