"""What people arrange: projects, schedules, worktrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from claude_sessions.commands.wanted.base import Command
from claude_sessions.commands.wanted.sessions import Launch
from claude_sessions.model import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class ListProjects(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see the projects"
    search: str | None = None  # part of a name or a path
    full: bool = False  # all of them, however many


@dataclass(frozen=True, slots=True, kw_only=True)
class AddProject(Command):
    """A directory that is listed from now on, though nothing has been done there."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "add projects"
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSchedules(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see the schedules"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddSchedule(Command):
    """Launch by the clock: `when` is a cron line, `in 2h`, `at 18:30` or `at 2026-12-01T09:00`."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "make schedules"
    when: str
    order: Launch
    zone: str | None = None  # None: the configured one


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSchedule(Command):
    """Somebody else's, here and below, needs an admin."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "pause schedules"
    schedule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSchedule(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "resume schedules"
    schedule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSchedule(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "delete schedules"
    schedule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSchedule(Command):
    """Now, whatever its time."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "run schedules"
    schedule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWorktrees(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see worktrees"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveToWorktree(Command):
    """A session that shares its directory goes on in a worktree of its own."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "move sessions"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeWorktree(Command):
    ROLE: ClassVar[Role] = Role.APPROVER
    TO: ClassVar[str] = "merge worktrees"
    worktree: str  # its name, or its session's
    into: str | None = None  # default: the branch it began from


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveWorktree(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "remove worktrees"
    worktree: str
    keep_branch: bool = False  # a branch with commits of its own stays; else it is refused
