"""Commands: every request from outside, whatever the door.

Each names the role it needs; `execute.py` checks it in one place and has one function a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

from claude_sessions.channel import Action, Notification
from claude_sessions.model import ConfigScope, PermissionMode, Role, Scope, Transport, Verdict

DEFAULT_RESUME_PROMPT = "Continue where you left off."
QUIET_WORDS = ("off", "default")
HERE = ""  # as a session: the one in front, see `here.py`


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`text` is for a chat, `data` for a program; both say the same.

    `narrow`: the text for a screen on which columns do not stand below each other. `again`: the
    line that gives this list as it is by then. `card`: the text is that of a card.
    """

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    session: str | None = None
    actions: tuple[Action, ...] = ()
    narrow: str = ""
    again: str = ""
    card: Notification | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "do that"  # completes "You may not …"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see the figures"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlugins(Command):
    """Those that are installed. `directory`: as they stand there; None: everywhere."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see plugins"
    directory: str | None = None
    available: bool = False  # also what could be installed


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMarketplaces(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see plugins"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePlugin(Command):
    """What is done to one plugin. `scope`: in which of Claude's settings; None: as Claude means."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change plugins"
    plugin: str  # name@marketplace, or its name alone
    scope: ConfigScope | None = None
    directory: str | None = None  # whose settings, for project and local


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlugin(ChangePlugin):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlugin(ChangePlugin):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class UninstallPlugin(ChangePlugin):
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EnablePlugin(ChangePlugin):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablePlugin(ChangePlugin):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMarketplace(Command):
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change plugins"
    source: str = field(repr=False)  # owner/repo, an address, or a directory


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMarketplace(Command):
    """With the plugins that came from it."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change plugins"
    name: str
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMcpServers(Command):
    """Each is tried. `directory`: with those of its own, if it is trusted; None: everywhere."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see MCP servers"
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerStatus(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see MCP servers"
    server: str
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMcpServer(Command):
    """`command` and `arguments` for stdio, else `url`. No scope: user, or local to a directory."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change MCP servers"
    server: str
    transport: Transport = Transport.STDIO
    command: str = ""
    arguments: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    scope: ConfigScope | None = None
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMcpServer(Command):
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change MCP servers"
    server: str
    scope: ConfigScope | None = None  # None: whichever has it
    directory: str | None = None
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthMcpServer(Command):
    """Log in to a server. `answer`: the address that the browser was sent to in the end."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change MCP servers"
    server: str
    directory: str | None = None
    answer: str | None = field(default=None, repr=False)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk(Command):
    """Plain text: to whoever this channel last brought forward; an open question is answered.

    `session`: to this one instead. `steer`: into the running turn, since it belongs to it.
    """

    ROLE: ClassVar[Role] = Role.PROMPTER
    TO: ClassVar[str] = "talk to sessions"
    text: str
    attachments: tuple[Mapping[str, Any], ...] = ()
    session: str | None = None
    steer: bool = False
