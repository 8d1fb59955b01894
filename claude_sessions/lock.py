"""The lock of a home."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from claude_sessions.errors import ConfigError, Conflict


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """One daemon a home. The lock dies with its holder, so none is ever stale."""
    with _opened(home / "lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            raise Conflict(
                f"claude-sessions already runs on {home} ({holder}). "
                "Stop it first, or choose another home with --home."
            ) from error
        lock.truncate(0)
        lock.write(f"pid {os.getpid()}\n")
        lock.flush()
        yield


def _opened(file: Path) -> TextIO:
    try:
        return file.open("a+", encoding="utf-8")
    except OSError as error:
        reason = f"cannot be opened ({error.strerror})"
        remedy = "give it to this user, or choose another home with --home"
        raise ConfigError([f"{file}: {reason}; {remedy}"]) from error
