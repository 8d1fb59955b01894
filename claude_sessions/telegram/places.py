"""Where something was said or pressed, and which channel that is."""

from __future__ import annotations

from telegram import MaybeInaccessibleMessage, Message

from claude_sessions.telegram.address import GENERAL, Address
from claude_sessions.telegram.chats import Chats


class Places:
    """With topics on, a forum is one channel; without, each topic is its own."""

    def __init__(self, chats: Chats, *, topics: bool) -> None:
        self._chats = chats
        self._topics = topics

    def of(self, message: Message) -> Address:
        thread = message.message_thread_id if message.is_topic_message else None
        if thread is None and self._topics and message.chat.is_forum:
            thread = GENERAL
        return Address(self._chats.known(message.chat.id), thread)

    def pressed(self, letter: Address, message: MaybeInaccessibleMessage) -> Address:
        """Without topics it stays with the channel of the letter, wherever that was shown."""
        if isinstance(message, Message) and self._topics and not letter.private:
            return self.of(message)
        return letter

    def chat(self, chat: int) -> int:
        return self._chats.known(chat)

    def channel(self, at: Address) -> Address:
        """Of whoever speaks there."""
        return Address(at.chat) if self._topics and not at.private else at

    def among_topics(self, at: Address) -> bool:
        return self._topics and not at.private and at.thread is not None
