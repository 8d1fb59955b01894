"""`claude-sessions setup`: a bot, its owner, the configuration, and the service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from claude_sessions.config import config_path
from claude_sessions.setup.dialogue import Dialogue
from claude_sessions.setup.steps import Setup
from claude_sessions.setup.unit import unit_text

__all__ = ["set_up", "unit_text"]


def set_up(given: Path | None, *, base_url: str | None, environ: Mapping[str, str]) -> None:
    file = config_path(given)
    Setup(file=file, environ=environ, dialogue=Dialogue(), base_url=base_url).run()
