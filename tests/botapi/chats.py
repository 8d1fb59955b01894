"""A chat: who is in it, its topics, and its messages as they stand on the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, TypeVar

from .bell import Bell
from .messages import Json, Message
from .refusals import Refused

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Topic:
    thread: int
    name: str
    icon_color: int = 0x6FB9F0
    icon: str | None = None
    mine: bool = False
    """Whether the bot opened it: then it may change it without the right to."""
    closed: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Chat:
    id: int
    type: str
    names: Json
    """The title, or the first name, as Telegram's own fields."""
    members: set[int] = field(default_factory=set)
    forum: bool = False
    topics: dict[int, Topic] = field(default_factory=dict)
    barred: Refused | None = None
    """Why nothing of the bot's reaches this chat: blocked, kicked, no rights, migrated."""
    manages_topics: bool = True
    drafts: dict[int, str] = field(default_factory=dict)
    actions: list[str] = field(default_factory=list)
    _messages: dict[int, Message] = field(default_factory=dict)
    _last_id: int = 0
    _turn: int = 0
    _changes: dict[int, tuple[int, Message]] = field(default_factory=dict)
    """By message, the one last changed last."""
    _bell: Bell = field(default_factory=Bell)

    @property
    def private(self) -> bool:
        return self.type == "private"

    @property
    def messages(self) -> list[Message]:
        """What can be seen, oldest first."""
        return [message for message in self._messages.values() if not message.deleted]

    @property
    def all_messages(self) -> list[Message]:
        """The deleted ones too."""
        return list(self._messages.values())

    @property
    def of_bot(self) -> list[Message]:
        return [message for message in self.messages if message.mine]

    def __post_init__(self) -> None:
        if self.forum:
            self._last_id = 1  # the number of General

    def json(self) -> Json:
        told = {"id": self.id, "type": self.type} | self.names
        return told | {"is_forum": True} if self.forum else told

    def message(self, message_id: int | None) -> Message | None:
        found = self._messages.get(message_id or 0)
        return found if found is not None and not found.deleted else None

    def add(self, **contents: Any) -> Message:
        """One sequence of ids for everything in the chat, the bot's and people's alike."""
        self._last_id += 1
        message = Message(id=self._last_id, chat=self.json(), **contents)
        if message.thread is not None:
            message.root = self._messages.get(message.thread)
        self._messages[message.id] = message
        self.changed(message)
        return message

    def delete(self, message: Message) -> None:
        message.deleted = True
        self.changed(message)

    def drop_topic(self, thread: int) -> None:
        del self.topics[thread]
        for message in self.messages:
            if message.thread == thread:
                self.delete(message)

    def changed(self, message: Message | None = None) -> None:
        """Of which message, if of one."""
        if message is not None:
            self._turn += 1
            self._changes.pop(message.id, None)
            self._changes[message.id] = (self._turn, message)
        self._bell.ring()

    def _changed_since(self, turn: int) -> Iterator[Message]:
        """Newest change first, so that a long chat is not read through for each of them."""
        changes = takewhile(lambda change: change[0] > turn, reversed(self._changes.values()))
        return (message for _, message in changes)

    def text(self, thread: int | None = None) -> str:
        """The screen as text: a line or more a message, its buttons in brackets below."""
        shown = (each for each in self.messages if thread in (None, each.thread))
        return "\n".join(rendered(message) for message in shown)

    def button_labels(self) -> list[str]:
        return [label for message in self.messages for label in message.button_labels]

    async def shows(
        self,
        what: str | Callable[[Message], object],
        *,
        thread: int | None = None,
        timeout: float = 15.0,  # noqa: ASYNC109 - a test's deadline
    ) -> Message:
        """The newest of the bot's messages that has the substring, or meets the condition.

        A condition is tried once on every message, then whenever that message changes.
        """

        seen = 0

        def wanted(message: Message) -> object:
            return what in shown(message) if isinstance(what, str) else what(message)

        def look() -> Message | None:
            nonlocal seen
            fresh, seen = self._changed_since(seen), self._turn
            candidates = (each for each in fresh if each.mine and not each.deleted)
            found = (each for each in candidates if thread in (None, each.thread) and wanted(each))
            return max(found, key=lambda each: each.id, default=None)

        return await self.until(look, f"nothing shows {what!r}", timeout)

    async def until(self, look: Callable[[], T | None], complaint: str, seconds: float) -> T:
        """Waits until `look` finds something other than None; fails with the screen as it is."""
        try:
            async with asyncio.timeout(seconds):
                return await self._bell.until(look)
        except TimeoutError:
            raise AssertionError(f"In chat {self.id} {complaint}:\n{self.text()}") from None

    async def shows_no_more(self, what: str, seconds: float = 15.0) -> None:
        def look() -> bool | None:
            return True if what not in self.text() else None

        await self.until(look, f"{what!r} is still shown", seconds)


def rendered(message: Message) -> str:
    return f"{message.sender['first_name']}: {shown(message)}"


def shown(message: Message) -> str:
    lines = [contents(message)]
    lines += [" ".join(f"[{button['text']}]" for button in row) for row in message.buttons]
    return "\n".join(lines)


def contents(message: Message) -> str:
    carried = [f"<{name}>" for name in message.media]
    if message.document is not None:
        carried = [f"<{message.document['file_name']}>"]
    return " ".join([*carried, message.text]).strip()
