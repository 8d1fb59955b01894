"""Sessions: born, running, resting, ended; and who watches them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from claude_sessions.events.base import Payload
from claude_sessions.model import PermissionMode, Reason, Status


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
    transcript_bytes: int | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Foregrounded(Payload):
    TYPE: ClassVar[str] = "channel.foregrounded"
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Backgrounded(Payload):
    TYPE: ClassVar[str] = "channel.backgrounded"
    channel: str
    position: int = 0  # output blocks seen when it was asked for; the fold knows exactly
    polled: bool = False  # nothing was streamed there: exactly `position` blocks were told
