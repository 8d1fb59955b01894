"""A line that brings along what was attached to a message: its updates are kept for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from telegram import Message

from claude_sessions.errors import BadRequest
from claude_sessions.telegram.gather import Part
from claude_sessions.telegram.inbox import Inbox

WORD = "/with"
GONE = "What was attached is no longer kept: send it once more."


def carrier(parts: Sequence[Part]) -> str:
    """Goes before a line. A number may begin anew, so each stands with its message."""
    return f"{WORD} {'+'.join(f'{p.update_id}:{p.message.message_id}' for p in parts)} "


async def carried(inbox: Inbox, line: str) -> tuple[str, list[Message]]:
    """The line itself, and the messages that go with it."""
    if not line.startswith(f"{WORD} "):
        return line, []
    _, named, rest = line.split(" ", 2)
    pairs = [tuple(map(int, each.split(":"))) for each in named.split("+")]
    kept = await asyncio.to_thread(inbox.mail.taken_in, inbox.bot_id, [p[0] for p in pairs])
    updates = [inbox.read(stored) for stored in kept]
    messages = [update.message for update in updates if update and update.message]
    if [message.message_id for message in messages] != [pair[1] for pair in pairs]:
        raise BadRequest(GONE)
    return rest, messages
