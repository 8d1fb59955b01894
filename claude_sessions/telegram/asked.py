"""Words that a press asked for: the line they complete, and when that is no longer wanted. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.commands.chat import parse
from claude_sessions.errors import UsageError
from claude_sessions.people import Caller
from claude_sessions.storage.mail import StoredButton
from claude_sessions.telegram.people import Speaker

ASKED_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """`late`: what they are about was decided meanwhile. `replied`: they reply to what asked."""

    line: str
    session: str | None
    replied: bool = False
    late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    ask: Ask
    by: str
    until: float
    approval: str | None


class Asked:
    """What each person said they would say next, where they pressed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[Speaker, _Open] = {}

    def ask(self, speaker: Speaker, button: StoredButton, caller: Caller) -> None:
        self._open[speaker] = _Open(
            ask=Ask(line=button.line, session=button.session),
            by=caller.name,
            until=self._clock.monotonic() + ASKED_SECONDS,
            approval=_approval_of(button.line),
        )

    def take(self, speaker: Speaker) -> Ask | None:
        """Once, and if the words come soon."""
        found = self._open.pop(speaker, None)
        return found.ask if found and self._clock.monotonic() < found.until else None

    def see(self, event: e.Event) -> None:
        """Called with every event of the log. Whoever decided it has other words now."""
        payload = event.payload
        if not isinstance(payload, e.ApprovalResolved | e.InputReceived):
            return
        for speaker, found in list(self._open.items()):
            if found.approval != payload.approval_id:
                continue
            if payload.by.startswith(f"{found.by} ("):
                del self._open[speaker]
            else:
                self._open[speaker] = replace(found, ask=replace(found.ask, late=True))


def _approval_of(line: str) -> str | None:
    try:
        command = parse(f"{line}…")
    except UsageError:
        return None
    return command.approval if isinstance(command, c.Decide | c.Answer) else None
