"""What sessions wait on, and what need not be asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from claude_sessions.commands.wanted.base import Command
from claude_sessions.model import PermissionMode, Role, Scope, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ListApprovals(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see approvals"
    approval: str | None = None  # None: all that waits; else this one, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide(Command):
    """Allow or deny what a session waits on. `mode`: with a plan, what to go on in."""

    ROLE: ClassVar[Role] = Role.APPROVER
    TO: ClassVar[str] = "decide"
    approval: str
    verdict: Verdict
    scope: Scope = Scope.ONCE
    reason: str = ""
    input: Mapping[str, Any] | None = None
    mode: PermissionMode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Command):
    """One answer a question: an option's number or label, or words of one's own."""

    ROLE: ClassVar[Role] = Role.APPROVER
    TO: ClassVar[str] = "answer questions"
    approval: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRules(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see the rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRule(Command):
    ROLE: ClassVar[Role] = Role.APPROVER
    TO: ClassVar[str] = "make rules"
    verdict: Verdict
    pattern: str
    scope: Scope = Scope.PROJECT
    session: str | None = None  # whose directory (project), or itself (session)
    directory: str | None = None
    lifetime: timedelta | None = None  # None: until it is revoked


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeRule(Command):
    ROLE: ClassVar[Role] = Role.APPROVER
    TO: ClassVar[str] = "revoke rules"
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust(Command):
    """Let a directory's own hooks, MCP servers and CLAUDE.md take part."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "trust directories"
    directory: str  # or a session's name: its directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Untrust(Command):
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "trust directories"
    directory: str
