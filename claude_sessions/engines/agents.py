"""Where else a conversation is open: two processes on one would silently split it.

The CLI keeps no lock, but it knows which sessions are live on this machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import structlog

from claude_sessions.claude_cli import NoAnswer, ask
from claude_sessions.engines.transcripts import config_directory

log = structlog.get_logger()

ANSWER_SECONDS = 10.0


def may_be_elsewhere(env: Mapping[str, str], claude_id: str) -> bool:
    """A glance at what the CLI itself looks at: asking it costs as much as half a start.

    Only ever used to spare the question: where the notes are not as expected, it is asked.
    """
    notes = config_directory(env) / "sessions"
    try:
        return not notes.is_dir() or any(
            claude_id.encode() in note.read_bytes() for note in notes.glob("*.json")
        )
    except OSError:  # one of them has just gone
        return True


async def live_sessions(cli: str, env: Mapping[str, str]) -> list[dict[str, Any]]:
    """As `claude agents --json` has them; none when it does not answer: it is only asked."""
    try:
        answer = await ask(cli, "agents", "--json", env=env, patience=ANSWER_SECONDS)
        found = orjson.loads(answer.out or "[]")
    except (NoAnswer, orjson.JSONDecodeError) as error:
        log.warning("agents.unreadable", why=str(error))
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def elsewhere(live: list[dict[str, Any]], claude_id: str, *, own_pid: int | None) -> str | None:
    """Where it lives, in words; None: nowhere but here."""
    for one in live:
        if one.get("sessionId") == claude_id and one.get("pid") != own_pid:
            place = f" in {one['cwd']}" if one.get("cwd") else ""
            return f"process {one.get('pid')}{place}, {one.get('status') or 'open'}"
    return None
