"""When it may ring for somebody, and what they have missed."""

from __future__ import annotations

from claude_sessions import commands as c
from claude_sessions.attention.book import OFF
from claude_sessions.attention.quiet import QuietHours
from claude_sessions.channel import Action
from claude_sessions.commands.pool import Pool
from claude_sessions.errors import BadRequest
from claude_sessions.people import Caller

DEFAULT = "default"


async def digest(pool: Pool, command: c.Digest, caller: Caller) -> c.Reply:
    return await pool.attention.digest(caller.name)


async def quiet(pool: Pool, command: c.Quiet, caller: Caller) -> c.Reply:
    if caller.agent:
        raise BadRequest("A program hears nothing ring. Quiet hours are for people.")
    book = pool.attention.quiet
    if command.hours is not None:
        hours = None if command.hours == DEFAULT else _checked(command.hours)
        await book.choose(caller.name, hours, str(caller))
    own, hold = book.own(caller.name), book.hours(caller.name)
    text = quiet_text(own, hold, book.configured, zone=str(book.zone))
    data = {"own": own, "hours": str(hold) if hold else None}
    return c.Reply(text=text, data=data, actions=_presses(own, book.configured))


def _checked(words: str) -> str:
    try:
        return words if words == OFF else str(QuietHours.read(words))
    except ValueError as problem:
        raise BadRequest(f"“{words[:20]}”: {problem}.") from None


def quiet_text(
    own: str | None, hold: QuietHours | None, configured: QuietHours | None, *, zone: str
) -> str:
    if hold is None:
        also = f"\nConfigured: {configured.words}." if configured else ""
        return f"🔔 It may ring for you at any hour.{also}\n/quiet 22-7 keeps the night quiet."
    whose = "" if own else ", as configured"
    return (
        f"🔕 Nothing rings for you {hold.words} ({zone}){whose}.\n"
        "It still comes, silently; if something happened, a digest rings when they end.\n"
        "In groups the configured hours hold."
    )


def _presses(own: str | None, configured: QuietHours | None) -> tuple[Action, ...]:
    presses = []
    if own != OFF and (own or configured):
        presses.append(Action(label="Let it ring", line="/quiet off"))
    if own and configured:
        presses.append(Action(label=f"As configured ({configured})", line="/quiet default"))
    return tuple(presses)
