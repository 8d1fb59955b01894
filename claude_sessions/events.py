"""Events: facts, past tense, never changed.

An `Event` is an envelope around one typed payload. The payload classes below are the whole
vocabulary; `TYPE` is the dotted name on the wire. `codec.py` turns them into JSON and back.

A `Signal` travels the same road live and is never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from claude_sessions.model import (
    AskKind,
    PermissionMode,
    Reason,
    Risk,
    Scope,
    Status,
    Verdict,
)

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    TYPE: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A fact on its way into the log, which adds its place and time."""

    payload: Payload
    session: str | None = None
    project: str | None = None
    run: str | None = None
    turn: str | None = None
    caller: str | None = None
    caused_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    seq: int  # place in the log
    epoch: str  # which log
    session_seq: int  # place in the session, from 1; 0 without a session
    id: str
    at: datetime
    runner: str
    project: str | None
    session: str | None
    run: str | None
    turn: str | None
    payload: Payload
    caller: str | None = None
    caused_by: str | None = None

    @property
    def type(self) -> str:
        return self.payload.type if isinstance(self.payload, Unknown) else self.payload.TYPE

    @property
    def version(self) -> int:
        return self.payload.VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Payload):
    """Written by a later version of this program: kept, passed over."""

    type: str
    data: Json


# --- sessions: born, run, rest, end


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCreated(Payload):
    TYPE: ClassVar[str] = "session.created"
    project_id: str
    name: str
    directory: str
    mode: str = "sdk"
    model: str | None = None
    permission_mode: PermissionMode = PermissionMode.DEFAULT
    budget_usd: float | None = None
    system_prompt: str | None = None
    allowed_tools: tuple[str, ...] = ()
    once: bool = False
    trusted: bool = False
    prompt: str = ""
    origin: str | None = None  # the channel it was launched from
    adopted: bool = False  # begun in a terminal, without us; it comes into the world asleep


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(Payload):
    """Claude's process answered: from here on there is a conversation."""

    TYPE: ClassVar[str] = "session.started"
    claude_session_id: str | None = None
    model: str | None = None
    pid: int | None = None
    cli_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationIdentified(Payload):
    """Claude's own id for the conversation; a session may have had several (/clear, fork)."""

    TYPE: ClassVar[str] = "session.identified"
    claude_session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResumed(Payload):
    """A new run of a session that had ended."""

    TYPE: ClassVar[str] = "session.resumed"
    claude_session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionForked(Payload):
    TYPE: ClassVar[str] = "session.forked"
    from_session_id: str
    from_seq: int
    claude_session_id: str | None = None
    source: str | None = None  # the conversation it branches off from
    source_leaf: str | None = None  # after this message of it; None: at its end


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAsleep(Payload):
    TYPE: ClassVar[str] = "session.asleep"
    reason: Reason
    transcript_bytes: int | None = None  # how long Claude's own file was then


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionQueued(Payload):
    """Every process is at work: it sleeps, and is woken when its turn in the line comes."""

    TYPE: ClassVar[str] = "session.queued"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWoken(Payload):
    TYPE: ClassVar[str] = "session.woken"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParked(Payload):
    TYPE: ClassVar[str] = "session.parked"
    resets_at: float | None = None
    transcript_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(Payload):
    TYPE: ClassVar[str] = "session.ended"
    status: Status
    reason: Reason
    message: str = ""
    duration_ms: int = 0
    cost_usd: float = 0.0  # of this run
    cost_unknown: bool = False  # a turn was cut off and never reported its cost
    transcript_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReported(Payload):
    """People have been told that the daemon's end cut it off."""

    TYPE: ClassVar[str] = "session.reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionForgotten(Payload):
    """All that is left of it: its events are gone."""

    TYPE: ClassVar[str] = "session.forgotten"
    session_id: str
    name: str
    events: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerStarted(Payload):
    TYPE: ClassVar[str] = "runner.started"
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerStopped(Payload):
    """The last word of a daemon that was not cut off."""

    TYPE: ClassVar[str] = "runner.stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRenamed(Payload):
    TYPE: ClassVar[str] = "session.renamed"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChanged(Payload):
    TYPE: ClassVar[str] = "session.mode"
    permission_mode: PermissionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChanged(Payload):
    TYPE: ClassVar[str] = "session.model"
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryChanged(Payload):
    TYPE: ClassVar[str] = "session.directory"
    directory: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChanged(Payload):
    TYPE: ClassVar[str] = "session.budget"
    budget_usd: float | None  # in all, with what is already spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed(Payload):
    """Something people should hear about that changes no state."""

    TYPE: ClassVar[str] = "session.notice"
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached(Payload):
    TYPE: ClassVar[str] = "limit.reached"
    kind: str  # budget | usage | daily
    message: str
    resets_at: float | None = None


# --- the conversation


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInterrupted(Payload):
    TYPE: ClassVar[str] = "turn.interrupted"
    reason: Reason
    partial_text: str = ""
    cost_usd: float | None = None  # None: never reported
    duration_ms: int = 0


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


# --- background tasks


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


# --- approvals


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(Payload):
    TYPE: ClassVar[str] = "approval.requested"
    approval_id: str
    tool_use_id: str
    tool_name: str
    input: Json
    kind: AskKind = AskKind.TOOL
    risk_level: Risk = Risk.LOW
    risk_reasons: tuple[str, ...] = ()
    permission_mode: PermissionMode = PermissionMode.DEFAULT
    suggestion: str | None = None  # the rule that "for this session" or "always here" would add
    description: str = ""
    agent_id: str | None = None
    expires_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(Payload):
    TYPE: ClassVar[str] = "approval.resolved"
    approval_id: str
    tool_use_id: str
    tool_name: str
    decision: str  # allow | deny | cancelled
    scope: Scope = Scope.ONCE
    persist: bool = False
    reason: str = ""
    by: str = ""  # who, at which door; or the rule or mode that decided
    rule: str | None = None
    modified_input: Json | None = None
    set_mode: PermissionMode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDelivered(Payload):
    """The answer has been written to Claude."""

    TYPE: ClassVar[str] = "approval.delivered"
    approval_id: str
    tool_use_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRequested(Payload):
    """Claude asks a question of its own."""

    TYPE: ClassVar[str] = "input.requested"
    approval_id: str
    tool_use_id: str
    questions: tuple[Json, ...]
    expires_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputReceived(Payload):
    TYPE: ClassVar[str] = "input.received"
    approval_id: str
    tool_use_id: str
    answers: Json
    decision: str = "allow"  # deny: refused, with the reason; cancelled
    reason: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleAdded(Payload):
    TYPE: ClassVar[str] = "rule.added"
    rule_id: str
    verdict: Verdict
    pattern: str
    scope: Scope
    directory: str | None = None
    expires_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRemoved(Payload):
    TYPE: ClassVar[str] = "rule.removed"
    rule_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustGiven(Payload):
    TYPE: ClassVar[str] = "trust.given"
    directory: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRevoked(Payload):
    TYPE: ClassVar[str] = "trust.revoked"
    directory: str


# --- schedules


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleAdded(Payload):
    TYPE: ClassVar[str] = "schedule.added"
    schedule_id: str
    prompt: str
    directory: str
    cron: str | None = None
    at: float | None = None  # once, then
    zone: str | None = None
    name: str | None = None
    permission_mode: PermissionMode | None = None
    allowed_tools: tuple[str, ...] = ()
    origin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleChanged(Payload):
    TYPE: ClassVar[str] = "schedule.changed"
    schedule_id: str
    paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRemoved(Payload):
    TYPE: ClassVar[str] = "schedule.removed"
    schedule_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFired(Payload):
    TYPE: ClassVar[str] = "schedule.fired"
    schedule_id: str
    due: float
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSkipped(Payload):
    """It was due and did not run."""

    TYPE: ClassVar[str] = "schedule.skipped"
    schedule_id: str
    due: float
    reason: str
    name: str = ""
    origin: str | None = None  # the channel that hears of it
    quiet: bool = False  # whoever it concerns has been told already


# --- worktrees


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeCreated(Payload):
    """About to be made: whatever stops it, the next look at the list finds out."""

    TYPE: ClassVar[str] = "worktree.created"
    name: str
    repository: str
    directory: str
    branch: str
    base: str  # the branch it began from; empty: none was checked out
    base_commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeMerged(Payload):
    TYPE: ClassVar[str] = "worktree.merged"
    name: str
    repository: str
    branch: str
    into: str
    commits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeRemoved(Payload):
    TYPE: ClassVar[str] = "worktree.removed"
    name: str
    repository: str
    branch: str
    branch_kept: bool
    reason: str = "user"  # gone: somebody deleted it; unfinished: it never came to be


# --- who watches


@dataclass(frozen=True, slots=True, kw_only=True)
class Foregrounded(Payload):
    TYPE: ClassVar[str] = "channel.foregrounded"
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Backgrounded(Payload):
    TYPE: ClassVar[str] = "channel.backgrounded"
    channel: str
    position: int = 0  # output blocks seen when it was asked for; the fold knows exactly


# --- signals: live only


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    TYPE: ClassVar[str] = ""
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantDelta(Signal):
    TYPE: ClassVar[str] = "assistant.delta"
    turn: str | None
    block: str
    offset: int  # characters of the block before this piece
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta(Signal):
    TYPE: ClassVar[str] = "assistant.thinking"
    turn: str | None
    block: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(Signal):
    TYPE: ClassVar[str] = "tool.progress"
    turn: str | None
    tool_use_id: str
    tool_name: str
    elapsed_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageTrouble(Signal):
    """The disk is full, or has room again. `session` is empty: it concerns everybody."""

    TYPE: ClassVar[str] = "storage.trouble"
    message: str
