"""How the bot stands, for people: when it last polled, and what it could not deliver. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from claude_sessions.commands.figures import count, span
from claude_sessions.health import Report

STALE = 60.0  # seconds; a poll takes up to half of that
LATE = 60.0
SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatHealth:
    chat: int
    waiting: int
    budget: str  # what may be sent there
    room: int  # how many messages at once
    unreachable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BotHealth:
    """`polled`: how many seconds ago. `oldest`: how long a message has waited, in seconds."""

    polled: float | None
    trouble: str | None
    waiting: int
    oldest: float | None
    chats: Sequence[ChatHealth]


def report(bot: BotHealth, called: Callable[[int], str]) -> Report:
    """`called`: what people call a chat."""
    stale = bot.polled is None or bot.polled > STALE
    late = (bot.oldest or 0.0) > LATE
    unreachable = [chat for chat in bot.chats if chat.unreachable]
    ok = not (stale or late or bot.trouble or unreachable)
    lines = [
        _polled(bot, wrong=stale or bot.trouble is not None),
        *([f"  {bot.trouble}"] if bot.trouble else []),
        _waiting(bot, wrong=late),
        *(_chat(chat, called(chat.chat)) for chat in _foremost(bot.chats)),
    ]
    if len(bot.chats) > SHOWN:
        lines.append(f"  … and {count(len(bot.chats) - SHOWN, 'more chat')}")
    return Report(name="telegram", lines=tuple(lines), ok=ok, data=_data(bot))


def _polled(bot: BotHealth, *, wrong: bool) -> str:
    when = "not polled yet" if bot.polled is None else f"polled {span(bot.polled)} ago"
    return f"{'⚠️ ' if wrong else ''}Telegram: {when}"


def _waiting(bot: BotHealth, *, wrong: bool) -> str:
    if not bot.waiting:
        return "  nothing waits to be sent"
    mark = "⚠️ " if wrong else ""
    return f"  {mark}{count(bot.waiting, 'message')} to send, the oldest {span(bot.oldest or 0)}"


def _foremost(chats: Sequence[ChatHealth]) -> list[ChatHealth]:
    """Where something is wrong, then where most waits."""
    return sorted(chats, key=lambda chat: (not chat.unreachable, -chat.waiting))[:SHOWN]


def _chat(chat: ChatHealth, name: str) -> str:
    waits = f" · {chat.waiting} to send" if chat.waiting else ""
    if chat.unreachable:
        return f"  ⚠️ {name}: cannot be reached ({chat.unreachable}){waits}"
    return f"  {name}: room for {chat.budget}{waits}"


def _data(bot: BotHealth) -> dict[str, Any]:
    return {
        "lastPollSeconds": bot.polled,
        "trouble": bot.trouble,
        "queueDepth": bot.waiting,
        "oldestSeconds": bot.oldest,
        "chats": [asdict(chat) for chat in bot.chats],
    }
