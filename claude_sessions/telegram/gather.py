"""Messages that are one: a paste that Telegram cut, an album, a row of forwards. Pure.

Only such parts are held back for a moment; an ordinary message goes at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from telegram import Message

from claude_sessions.commands.usage import NAMES
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.people import Speaker
from claude_sessions.telegram.render import units

FULL = 4096  # units in a message
CUT = 4000  # Telegram cuts a paste near its limit, at a space if it can
HOLD = 1.2  # seconds after the last part
JOIN = 2.0  # forwards so soon after a comment belong to it
COMMAND = re.compile(r"/(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    update_id: int
    message: Message
    at: float  # monotonic, when it arrived
    late: float = 0.0  # seconds after it was said

    @property
    def sender(self) -> int:
        return self.message.from_user.id if self.message.from_user else 0

    @property
    def speaker(self) -> Speaker:
        thread = self.message.message_thread_id if self.message.is_topic_message else None
        return Address(self.message.chat.id, thread), self.sender

    @property
    def forwarded(self) -> bool:
        return self.message.forward_origin is not None

    @property
    def text(self) -> str:
        return self.message.text or ""

    @property
    def long(self) -> bool:
        return units(self.text) >= CUT

    @property
    def is_command(self) -> bool:
        """A paste may well go on with a slash."""
        head = COMMAND.match(self.text)
        return head is not None and head[1].lower() in NAMES


def holds(parts: Sequence[Part]) -> bool:
    """Whether another part may follow the last of these."""
    last = parts[-1]
    return bool(last.message.media_group_id) or last.forwarded or last.long


def belongs(parts: Sequence[Part], part: Part) -> bool:
    """Whether it is the next of these."""
    last = parts[-1]
    if part.speaker != last.speaker:
        return False
    if part.forwarded or last.forwarded:  # also whole albums
        return part.forwarded and last.forwarded
    if last.message.media_group_id or part.message.media_group_id:
        return last.message.media_group_id == part.message.media_group_id
    return last.long and bool(part.text) and not part.is_command


def text_of(parts: Sequence[Part], spoken: Mapping[int, str] | None = None) -> str:
    """A cut paste is put together as it was; other parts stand below each other.

    `spoken`: by update, what was said aloud.
    """
    if all(part.text and not part.forwarded for part in parts):
        return _pasted(parts)
    heard = spoken or {}
    texts = [
        part.message.text or part.message.caption or heard.get(part.update_id, "") for part in parts
    ]
    return "\n\n".join(text for text in texts if text)


def _pasted(parts: Sequence[Part]) -> str:
    """Of a part that is not full, the space at which it was cut has been trimmed away."""
    *before, last = [part.text for part in parts]
    return "".join(text if units(text) >= FULL else f"{text}\n" for text in before) + last
