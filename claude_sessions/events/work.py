"""What people arrange: schedules, quiet hours and worktrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from claude_sessions.events.base import Payload
from claude_sessions.model import PermissionMode


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


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietChanged(Payload):
    """When nothing rings for a person."""

    TYPE: ClassVar[str] = "quiet.changed"
    person: str
    hours: str  # 22-7; off: it may ring at any hour; empty: as configured


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectAdded(Payload):
    TYPE: ClassVar[str] = "project.added"
    project_id: str
    directory: str


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
