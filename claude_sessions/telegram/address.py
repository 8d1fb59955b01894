"""Where in Telegram: a chat, or a topic of it. As a channel it is `telegram|CHAT` or `…/THREAD`.

With topics on, `CHAT` alone leaves it open in which topic: that of the session in question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

GENERAL = 1  # the number of the topic that every forum has; nothing is sent by it
CHANNEL = re.compile(r"telegram\|(?:[^|]*\|)?(-?\d{1,19})(?:/(\d{1,19}))?")


def is_chat(channel: str) -> bool:
    return CHANNEL.fullmatch(channel) is not None


@dataclass(frozen=True, slots=True)
class Address:
    chat: int
    thread: int | None = None

    @classmethod
    def of_channel(cls, channel: str) -> Address | None:
        match = CHANNEL.fullmatch(channel)
        return cls(int(match[1]), int(match[2]) if match[2] else None) if match else None

    @classmethod
    def read(cls, text: str) -> Address:
        chat, _, thread = text.partition("/")
        return cls(int(chat), int(thread) if thread else None)

    @property
    def private(self) -> bool:
        """People have positive numbers, groups negative ones."""
        return self.chat > 0

    @property
    def channel(self) -> str:
        return f"telegram|{self}"

    def __str__(self) -> str:
        return f"{self.chat}/{self.thread}" if self.thread else str(self.chat)
