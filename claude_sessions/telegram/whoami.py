"""Asking Telegram which bot a token belongs to, and its refusals in words for people."""

from __future__ import annotations

from urllib.parse import urlsplit

from telegram import Bot, User
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError, TimedOut
from telegram.request import HTTPXRequest

from claude_sessions.settings import TelegramSettings

PATIENCE = 10.0  # seconds for one question; it is answered in a tenth of one


class NoBot(Exception):
    """Telegram did not say which bot it is. The text says why, without the token."""


def bot_of(token: str, settings: TelegramSettings, patience: float = PATIENCE) -> Bot:
    def request() -> HTTPXRequest:
        return HTTPXRequest(connect_timeout=patience, read_timeout=patience)

    return Bot(
        token,
        base_url=settings.base_url,
        base_file_url=settings.base_file_url,
        request=request(),
        get_updates_request=request(),
    )


async def who_is(token: str, settings: TelegramSettings, patience: float = PATIENCE) -> User:
    try:
        async with bot_of(token, settings, patience) as bot:
            return bot.bot
    except TelegramError as error:
        raise NoBot(explain(error, settings)) from None  # its own text may quote the token


def explain(error: TelegramError, settings: TelegramSettings) -> str:
    """A sentence of ours: what the library says may quote the token."""
    server = urlsplit(settings.base_url).hostname or "the Bot API"
    match error:
        case InvalidToken():
            return "Telegram does not accept this token."
        case TimedOut():
            return f"{server} did not answer in time."
        case RetryAfter():
            return f"{server} asks for patience. Wait a minute."
        case Conflict() if "webhook" in error.message:
            return (
                "This bot sends its messages to a webhook, so they cannot be read here. "
                "Remove the webhook, or make another bot."
            )
        case Conflict():
            return (
                "Another program reads this bot's messages, perhaps claude-sessions itself. "
                "Stop it first: systemctl --user stop claude-sessions"
            )
    return f"{server} cannot be reached ({type(error.__cause__ or error).__name__})."
