"""The bot's menu: the short names first, then those that people know from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from claude_sessions.commands.usage import COMMANDS

MOST = 100  # as Telegram allows
DESCRIPTION = 256
FAMILIAR = "claude"  # how the names of the seed begin
FIRST = ("new", "sessions", "approvals", "fg", "bg", "say", "interrupt", "resume", "output")
LAST = ("help", "start")


def menu() -> list[tuple[str, str]]:
    """Names, and what each does."""
    middle = [name for name in COMMANDS if name not in (*FIRST, *LAST)]
    short = [(name, COMMANDS[name].help) for name in (*FIRST, *middle, *LAST)]
    listed = [*short, *_familiar()][:MOST]
    return [(name, words[:DESCRIPTION]) for name, words in listed]


def _familiar() -> Iterator[tuple[str, str]]:
    for name, usage in COMMANDS.items():
        for alias in usage.aliases:
            if alias.startswith(FAMILIAR):
                yield alias, f"/{name}: {usage.help}"
