"""Who it is that speaks or presses, and where."""

from __future__ import annotations

from collections.abc import Sequence

from telegram import Message, Update, User

from claude_sessions.model import Role
from claude_sessions.people import Caller
from claude_sessions.settings import PersonSettings
from claude_sessions.telegram.address import Address

DOOR = "Telegram"

Speaker = tuple[Address, int]  # where, and who


class People:
    """Those that are configured; everybody else is a stranger."""

    def __init__(self, people: Sequence[PersonSettings]) -> None:
        self._by_id = {person.telegram: person for person in people if person.telegram}

    @property
    def names(self) -> list[str]:
        return [person.name for person in self._by_id.values()]

    def find(self, user: User | None) -> PersonSettings | None:
        if user is None or user.is_bot:
            return None
        return self._by_id.get(user.id)

    def caller(self, person: PersonSettings, at: Address) -> Caller:
        return Caller(name=person.name, role=person.role, door=DOOR, channel=at.channel)

    def at(self, address: Address) -> PersonSettings | None:
        """Whose private chat it is."""
        return self._by_id.get(address.chat)

    def answered_at(self, channel: str) -> str | None:
        """The caller that is answered there: in a private chat, the one person in it."""
        address = Address.of_channel(channel)
        person = self.at(address) if address else None
        return str(self.caller(person, address)) if person and address else None

    @property
    def owners(self) -> list[Address]:
        """The private chats of those who may hear of what concerns the bot itself."""
        return [
            Address(person.telegram)
            for person in self._by_id.values()
            if person.role is Role.ADMIN and person.telegram
        ]


def replied_to(message: Message) -> int | None:
    """In a topic every message carries a reply to its root: that is none.

    Elsewhere in a supergroup a thread is a row of replies, and its root is what was replied to.
    """
    reply = message.reply_to_message
    if reply is None or reply.forum_topic_created is not None:
        return None
    of_root = message.is_topic_message and reply.message_id == message.message_thread_id
    return None if of_root else reply.message_id


def speaker(update: Update) -> User | None:
    if update.callback_query is not None:
        return update.callback_query.from_user
    message = update.message or update.edited_message
    return message.from_user if message else None
