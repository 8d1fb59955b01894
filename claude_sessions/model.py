"""The words the whole program uses: statuses, roles, modes, ids.

Pure values only. Everything here may be imported from anywhere.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from nanoid import generate


class Status(StrEnum):
    """Where a session stands. The endings are those of its latest run."""

    STARTING = "starting"  # launched or resumed, Claude has not answered yet
    RUNNING = "running"  # a process is there
    ASLEEP = "asleep"  # the process was given back; the next message wakes it
    PARKED = "parked"  # waits for a usage limit to reset
    IN_TERMINAL = "in_terminal"  # lent to a person's own terminal
    COMPLETED = "completed"  # the run did what it was for
    FAILED = "failed"  # the engine could not go on
    KILLED = "killed"  # somebody, or a timer, ended the run

    @property
    def ended(self) -> bool:
        return self in ENDINGS

    @property
    def has_process(self) -> bool:
        return self in (Status.STARTING, Status.RUNNING)


ENDINGS = frozenset({Status.COMPLETED, Status.FAILED, Status.KILLED})

# The moves a session may make; anything else is a bug and raises.
MOVES: dict[Status, frozenset[Status]] = {
    Status.STARTING: frozenset({Status.RUNNING, Status.ASLEEP, Status.PARKED}) | ENDINGS,
    Status.RUNNING: frozenset({Status.ASLEEP, Status.PARKED, Status.IN_TERMINAL}) | ENDINGS,
    Status.ASLEEP: frozenset({Status.STARTING, Status.IN_TERMINAL}) | ENDINGS,
    Status.PARKED: frozenset({Status.STARTING, Status.ASLEEP}) | ENDINGS,
    Status.IN_TERMINAL: frozenset({Status.ASLEEP, Status.STARTING}) | ENDINGS,
    Status.COMPLETED: frozenset({Status.STARTING}),
    Status.FAILED: frozenset({Status.STARTING}),
    Status.KILLED: frozenset({Status.STARTING}),
}


class Activity(StrEnum):
    """What a running session is doing."""

    IDLE = "idle"  # between turns
    WORKING = "working"  # in a turn
    WAITING = "waiting"  # in a turn that waits for a person


class Reason(StrEnum):
    """Why a run ended, a session fell asleep, or a turn was cut off."""

    DONE = "done"  # a single-turn session finished
    USER = "user"  # a person or program asked for it
    IDLE = "idle"  # nobody spoke to it for the idle timeout
    POOL = "pool"  # its process was wanted for another session
    PAUSED = "paused"  # a person or program holds it, and its queue, until it is resumed
    QUEUED = "queued"  # every process is at work: it waits in line for one
    ELSEWHERE = "elsewhere"  # its conversation is open in another program
    LIMIT = "limit"  # a usage limit has to reset first
    SHUTDOWN = "shutdown"  # the daemon stopped
    BUDGET = "budget"  # its money is spent
    START = "start"  # Claude could not be started
    CRASH = "crash"  # Claude's process died
    ERROR = "error"  # the turn failed (API error, limit of turns)
    ABANDONED = "abandoned"  # the daemon died while it ran
    ADOPTED = "adopted"  # begun in a terminal; it has never had a process here


class PermissionMode(StrEnum):
    """As the CLI means them."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    PLAN = "plan"
    BYPASS = "bypassPermissions"
    DONT_ASK = "dontAsk"
    AUTO = "auto"


class Verdict(StrEnum):
    ALLOW = "allow"
    DENY = "deny"


class Scope(StrEnum):
    """How far a decision reaches."""

    ONCE = "once"
    SESSION = "session"
    PROJECT = "project"
    USER = "user"


class ConfigScope(StrEnum):
    """In which of Claude's own settings a plugin or an MCP server stands."""

    USER = "user"  # in every directory
    PROJECT = "project"  # in one directory, for everybody who works there
    LOCAL = "local"  # in one directory, for this user alone


class Transport(StrEnum):
    """How an MCP server is reached."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


class Risk(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Role(StrEnum):
    """Each may do all that the ones before it may."""

    VIEWER = "viewer"  # reads
    PROMPTER = "prompter"  # also talks and launches
    APPROVER = "approver"  # also decides
    ADMIN = "admin"  # also configures, and may loosen things

    def covers(self, needed: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(needed)


class AskKind(StrEnum):
    """What a session waits on."""

    TOOL = "tool"
    PLAN = "plan"
    QUESTION = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """What somebody asked for when launching: enough to start Claude, and to start it again."""

    directory: str
    model: str | None = None
    mode: PermissionMode = PermissionMode.DEFAULT
    budget_usd: float | None = None
    system_prompt: str | None = None
    allowed_tools: tuple[str, ...] = ()
    once: bool = False
    trusted: bool = False


WORKTREES = ".claude/worktrees"  # in a repository; Claude Code has its own there too

ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
ID = re.compile(r"[a-z0-9]{8}")
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,47}")


def new_id() -> str:
    return generate(ID_ALPHABET, 8)


STOP_WORDS = re.compile(
    r"a|an|the|and|or|but|to|of|in|on|at|for|with|from|by|is|are|be|was|it|its|this|that|my|me|i"
    r"|we|you|your|our|please|can|could|would|should|do|does|did|not|so|if|then|into|as"
)


def name_from(prompt: str) -> str:
    """The first three words of the prompt that say something: `fix-auth-bug`."""
    plain = unicodedata.normalize("NFKD", prompt[:1000].casefold())  # ü: u and a mark, left out
    words = re.findall(r"[a-z0-9]+", "".join(c for c in plain if not unicodedata.combining(c)))
    telling = [word for word in words if len(word) > 1 and not STOP_WORDS.fullmatch(word)]
    return "-".join(telling[:3])[:48].strip("-") or "session"
