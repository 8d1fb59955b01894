"""The bot's token, and who it listens to. The token itself stands in no message of ours."""

from __future__ import annotations

import re
from pathlib import Path

from claude_sessions.errors import ConfigError
from claude_sessions.settings import Settings, TelegramSettings

TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,200}")


def token_of(settings: TelegramSettings) -> str | None:
    """What `token` says, else what stands in `token_file`; None if neither is configured."""
    if settings.token is not None:
        return _checked(settings.token.get_secret_value(), "telegram.token")
    if settings.token_file is not None:
        origin = f"telegram.token_file: {settings.token_file}"
        return _checked(_read(settings.token_file), origin)
    return None


def refuse_nobody(settings: Settings) -> None:
    """A bot that everybody finds and nobody owns must not start."""
    telegram = settings.telegram
    configured = telegram.token is not None or telegram.token_file is not None
    if configured and not any(person.telegram for person in settings.people):
        reason = "there is a bot, but nobody in [[people]] has a telegram id, so nobody may use it"
        raise ConfigError([f"telegram: {reason}; run: claude-sessions setup"])


def _read(file: Path) -> str:
    try:
        if file.stat().st_mode & 0o077:
            reason = f"others can read {file}"
            raise ConfigError([f"telegram.token_file: {reason}; run: chmod 600 {file}"])
        return file.read_text(encoding="utf-8")
    except OSError as error:
        reason = f"{file} cannot be read ({error.strerror})"
        remedy = "correct the path, or run: claude-sessions setup"
        raise ConfigError([f"telegram.token_file: {reason}; {remedy}"]) from error
    except ValueError:  # what is no text may still be a secret: it stays out of the chain
        return ""


def _checked(text: str, origin: str) -> str:
    token = text.strip()
    if not TOKEN.fullmatch(token):  # it becomes part of an address
        raise ConfigError([f"{origin} holds no bot's token; run: claude-sessions setup"])
    return token
