"""In which groups topics can be opened, as far as is known."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from telegram import Chat

from claude_sessions.clock import Clock
from claude_sessions.telegram.chats import Chats

BARRED = 3600.0  # seconds until a chat that refused a topic is asked again
NO_FORUM = "the chat is not a forum"
REMEDY = "Turn topics on in the group and let me manage them; until then all is told in General."

logger = structlog.get_logger(__name__)


class Forums:
    """`trouble` is told that a chat refuses topics, and why."""

    def __init__(self, chats: Chats, clock: Clock) -> None:
        self.trouble: Callable[[int, str], None] = lambda chat, words: None
        self._chats = chats
        self._clock = clock
        self._known: dict[int, bool] = {}
        self._barred: dict[int, float] = {}

    def allow(self, chat: int) -> bool:
        if chat > 0 or self._barred.get(chat, 0.0) > self._clock.monotonic():
            return False
        if not self._known.get(chat, True):
            self.bar(chat, NO_FORUM)
            return False
        return True

    def bar(self, chat: int, why: str) -> None:
        logger.warning("topics.refused", chat=chat, why=why)
        self._barred[chat] = self._clock.monotonic() + BARRED
        self.trouble(chat, f"I cannot make topics in the group {chat}: {why}. {REMEDY}")

    def heard_of(self, chat: Chat) -> None:
        known, forum = self._chats.known(chat.id), bool(chat.is_forum)
        if forum != self._known.get(known):
            self._known[known] = forum
            self._barred.pop(known, None)

    def changed(self, chat: Chat) -> None:
        """What the bot may do there, perhaps for the better."""
        self._barred.pop(self._chats.known(chat.id), None)
