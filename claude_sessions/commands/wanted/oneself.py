"""About whoever asks, their programs, and how all of it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from claude_sessions.commands.wanted.base import Command
from claude_sessions.model import Role

QUIET_WORDS = ("off", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see the figures"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet(Command):
    """One's own quiet hours, or, without any, what they are. `off`: it may ring at any hour."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "set quiet hours"
    hours: str | None = None  # 22-7, off, or default: as configured


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest(Command):
    """What happened since one was last away."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "read sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Command):
    """How the daemon, its doors and its pool stand."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see how things stand"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTokens(Command):
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "see tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeToken(Command):
    """A program's way in. The secret is in `data` of the reply, and nowhere else."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "make tokens"
    name: str
    role: Role
    days: float | None = None  # None: until it is revoked


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeToken(Command):
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "revoke tokens"
    token: str  # its id or its name


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Command):
    """The first thing anybody says to a bot."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "ask for help"


@dataclass(frozen=True, slots=True, kw_only=True)
class Help(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "ask for help"
    topic: str | None = None  # a command's name, as in `usage.COMMANDS`
