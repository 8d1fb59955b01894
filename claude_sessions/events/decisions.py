"""Approvals, questions, rules and trust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from claude_sessions.events.base import Json, Payload
from claude_sessions.model import AskKind, PermissionMode, Risk, Scope, Verdict


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
