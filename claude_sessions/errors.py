"""What can go wrong, in words for people. Each door maps this tree once.

SessionsError
├── ConfigError          the configuration is wrong: all problems, one a line
├── BadRequest           the command itself makes no sense
│   └── UsageError       a chat line that could not be read; carries the usage line
├── NotFound             no such session, approval, rule, task
│   └── NoSession        no such session; programs are told so in a sentence of their own
├── Conflict             it cannot be done now (name taken, already decided)
│   ├── PoolFull         every process is at work; a place in the line is offered
│   └── CommandFailed    the claude program could not do it; names its subcommand
├── Forbidden            the caller's role, or the directory, does not allow it
├── EngineError          Claude could not be started, or died
│   ├── LoginExpired     Claude has no valid login
│   └── LiveElsewhere    another program has the conversation open
└── StorageFull          the disk is full: new work is refused
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claude_sessions.channel import Action


class SessionsError(Exception):
    """Its text is a sentence that says what happened and what to do."""

    actions: tuple[Action, ...] = ()  # what can be done about it with one press


class ConfigError(SessionsError):
    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class BadRequest(SessionsError):
    pass


class UsageError(BadRequest):
    def __init__(self, message: str, usage: str = "") -> None:
        self.usage = usage
        super().__init__(f"{message}\nUsage: {usage}" if usage else message)


class NotFound(SessionsError):
    pass


class NoSession(NotFound):
    def __init__(self, message: str, *, ref: str) -> None:
        self.plain = f'Session "{ref}" not found'  # as the seeds say it
        super().__init__(message)


class Conflict(SessionsError):
    pass


class PoolFull(Conflict):
    def __init__(self, message: str, *, session: str | None = None) -> None:
        self.session = session  # who was to be woken
        super().__init__(message)


class CommandFailed(Conflict):
    pass


class Forbidden(SessionsError):
    pass


class EngineError(SessionsError):
    pass


class LoginExpired(EngineError):
    pass


class LiveElsewhere(EngineError):
    pass


class StorageFull(SessionsError):
    pass
