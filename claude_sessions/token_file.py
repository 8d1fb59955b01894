"""The owner's own token: a file that nobody else can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from claude_sessions.errors import ConfigError
from claude_sessions.model import new_id

SHORTEST = 32
FILE = "gateway.token"


def owners_token(configured: Path | None, home: Path) -> str:
    """Made at the first start, in a file that only the owner can read."""
    file = configured or home / FILE
    if configured is None and not file.exists():
        _write(file, secrets.token_urlsafe(32))
    return read_token(file)


def read_token(file: Path, *, named: str = "gateway.token_file") -> str:
    try:
        if file.stat().st_mode & 0o077:
            raise ConfigError([f"{file}: others can read it; run: chmod 600 {file}"])
        token = file.read_text(encoding="ascii").strip()
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise ConfigError([f"{file}: {reason}; correct {named}"]) from error
    except UnicodeDecodeError:  # what is no text may still be a secret: it stays out of the chain
        token = ""
    if len(token) < SHORTEST or not token.isprintable() or " " in token:
        reason = f"holds no token of {SHORTEST} characters or more"
        remedy = "delete it and start again, or write one: openssl rand -hex 32"
        raise ConfigError([f"{file}: {reason}; {remedy}"])
    return token


def _write(file: Path, token: str) -> None:
    """Whole or not at all, whatever happens in between."""
    draft = file.with_name(f".{file.name}.{new_id()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="ascii") as out:
        out.write(f"{token}\n")
        out.flush()
        os.fsync(handle)
    draft.replace(file)
