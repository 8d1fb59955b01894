"""Messages that are one: a paste that Telegram cut, an album, a row of forwards. Pure.

Only such parts are held back for a moment; an ordinary message goes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from telegram import Message

CUT = 4000  # characters: Telegram cuts a paste near its limit of 4096
HOLD = 1.2  # seconds after the last part
JOIN = 2.0  # forwards so soon after a comment belong to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    update_id: int
    message: Message
    at: float  # monotonic, when it arrived

    @property
    def sender(self) -> int:
        return self.message.from_user.id if self.message.from_user else 0

    @property
    def place(self) -> tuple[int, int | None]:
        return self.message.chat.id, self.message.message_thread_id

    @property
    def forwarded(self) -> bool:
        return self.message.forward_origin is not None

    @property
    def long(self) -> bool:
        return len(self.message.text or "") >= CUT


def holds(parts: Sequence[Part]) -> bool:
    """Whether another part may follow the last of these."""
    last = parts[-1]
    return bool(last.message.media_group_id) or last.forwarded or last.long


def belongs(parts: Sequence[Part], part: Part) -> bool:
    """Whether it is the next of these."""
    last = parts[-1]
    if (part.sender, part.place) != (last.sender, last.place):
        return False
    if last.message.media_group_id or part.message.media_group_id:
        return last.message.media_group_id == part.message.media_group_id
    if part.forwarded or last.forwarded:
        return part.forwarded and last.forwarded
    text = part.message.text or ""
    return last.long and bool(text) and not text.startswith("/")


def text_of(parts: Sequence[Part]) -> str:
    """A cut paste is put together as it was; other parts stand below each other."""
    texts = [part.message.text or part.message.caption or "" for part in parts]
    cut = all(part.message.text and not part.forwarded for part in parts)
    return ("" if cut else "\n\n").join(text for text in texts if text)
