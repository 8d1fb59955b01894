"""Where things lie. Quick to import: a client looks here before it does anything else."""

from __future__ import annotations

from pathlib import Path

import platformdirs

from claude_sessions.errors import ConfigError

ADDRESS = "gateway.url"  # in the home, while the gateway is open


def home_path(given: Path | None = None) -> Path:
    """Where the state is kept: what `--home` said, else the platform's place for it."""
    if given:
        return typed("--home", given)
    return platformdirs.user_state_path("claude-sessions", appauthor=False)


def typed(flag: str, path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise ConfigError([f"flag {flag}: {path} names nobody's home; write it out"]) from error
