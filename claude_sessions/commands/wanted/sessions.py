"""About sessions: beginning, talking, watching, adjusting, ending."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from claude_sessions.commands.wanted.base import Command
from claude_sessions.model import PermissionMode, Role

DEFAULT_RESUME_PROMPT = "Continue where you left off."


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "start sessions"
    prompt: str
    name: str | None = None
    directory: str | None = None
    model: str | None = None
    mode: PermissionMode | None = None
    budget_usd: float | None = None
    system_prompt: str | None = None
    allowed_tools: tuple[str, ...] = ()
    once: bool = False
    foreground: bool = False
    attachments: tuple[Mapping[str, Any], ...] = ()
    carrier: str = ""  # before a line: brings the attachments along again, at a door that can
    origin: str | None = None  # the channel that hears of it; None: see `origins.py`
    queue: bool = False  # when every process is at work, wait in line for one
    worktree: bool = False  # in a git worktree of its own, on a branch of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare(Command):
    """A session that nobody has said anything to yet: it is asleep until somebody does."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "start sessions"
    name: str
    directory: str | None = None
    model: str | None = None
    mode: PermissionMode | None = None
    budget_usd: float | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond(Command):
    """Say something to a session. Busy: it is queued, unless it steers or interrupts."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "talk to sessions"
    session: str
    text: str
    interrupt: bool = False
    steer: bool = False
    attachments: tuple[Mapping[str, Any], ...] = ()
    carrier: str = ""  # before a line: brings the attachments along again, at a door that can
    queue: bool = False  # when every process is at work, wait in line for one


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw(Command):
    """Take a queued message back; with `steer` or `interrupt`, say it now instead."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "talk to sessions"
    session: str
    message: str  # its id
    interrupt: bool = False
    steer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQueue(Command):
    """What waits to be said to a session, or everywhere, and who waits for a process."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see what is queued"
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait(Command):
    """A turn that gives no sign of life may take its time: ask again later."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "talk to sessions"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "interrupt sessions"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Command):
    """Stop what a session does and hold its queue: nothing is begun until it is resumed."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "pause sessions"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreground(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "watch sessions"
    session: str
    lines: int = 30
    polled: bool = False  # nothing is streamed there: it knows what replies told it, and no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Background(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "watch sessions"
    session: str | None = None  # None: all that this channel has in the foreground
    polled: bool = False  # as in `Foreground`


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "end sessions"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "put sessions to sleep"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget(Command):
    """Delete all that the log has of a session; nothing else ever deletes."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "delete sessions"
    session: str
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Output(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "read sessions"
    session: str
    lines: int = 50
    full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSessions(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "list sessions"
    status: str = "all"
    full: bool = False
    origin: str | None = None  # only those that report there


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see the figures"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTurns(Command):
    """Where a fork may branch off."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "read sessions"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff(Command):
    """What a turn changed in files, as far as Claude's own tools changed them."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "read sessions"
    session: str
    turn: int | None = None  # as /turns counts them; None: the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(Command):
    """Put the files back that the last turn changed."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "undo turns"
    session: str
    confirmed: bool = False  # also what somebody else has changed in them since


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "resume sessions"
    session: str
    prompt: str = DEFAULT_RESUME_PROMPT
    fork: bool = False
    name: str | None = None
    model: str | None = None
    mode: PermissionMode | None = None
    budget_usd: float | None = None
    directory: str | None = None
    turn: int | None = None  # with a fork: branch off after this turn
    queue: bool = False  # when every process is at work, wait in line for one


@dataclass(frozen=True, slots=True, kw_only=True)
class ListResumable(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "list sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFound(Command):
    """Conversations with Claude that were begun in a terminal and are nobody's session yet."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "list sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopt(Command):
    """Make such a conversation a session; the next message to it goes on with it."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "adopt conversations"
    conversation: str  # its id, the beginning of it, or part of its title
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetFile(Command):
    """A file of a session's directory. Whoever may talk could have Claude read it out anyway; who
    may only watch sees what sessions show, and no more."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "get files"
    session: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMode(Command):
    ROLE: ClassVar[Role] = Role.APPROVER
    TO: ClassVar[str] = "change a session's mode"
    session: str
    mode: PermissionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class ListModes(Command):
    """Which modes a session may be set to."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see a session's mode"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListModels(Command):
    """Which models a session may be set to."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see a session's model"
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetModel(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "change a session's model"
    session: str
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetBudget(Command):
    """What a session may spend in all; `more`: that much more than it has spent or may now."""

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "change a session's budget"
    session: str
    budget_usd: float
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "rename sessions"
    session: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTasks(Command):
    """Background tasks of a session."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see tasks"
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTask(Command):
    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "stop tasks"
    session: str
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk(Command):
    """Plain text: to whoever this channel last brought forward; an open question is answered.

    `session`: to this one instead. `steer`: into the running turn, since it belongs to it.
    """

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "talk to sessions"
    text: str
    attachments: tuple[Mapping[str, Any], ...] = ()
    carrier: str = ""  # before a line: brings the attachments along again, at a door that can
    session: str | None = None
    steer: bool = False
