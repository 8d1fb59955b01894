"""What people do in Telegram, with the updates that tell the bot of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .chats import Chat
from .cloud import Cloud
from .entities import Entity, units
from .files import File
from .messages import Json, Message
from .presses import Press, callback_query


class Person:
    def __init__(self, cloud: Cloud, chat: Chat, user: Json) -> None:
        self._cloud = cloud
        self.chat = chat
        """Their private chat with the bot."""
        self.user = user

    @property
    def id(self) -> int:
        return int(self.user["id"])

    async def says(
        self,
        text: str,
        chat: Chat | None = None,
        *,
        entities: Sequence[Entity] = (),
        **how: Any,
    ) -> Message:
        """How: `reply_to` (a message id), `thread`, `date`."""
        marks = [*entities, *commands(text)]
        return self._sends(chat, text=text, entities=marks, **how)

    async def sends_photo(
        self,
        content: bytes,
        chat: Chat | None = None,
        *,
        caption: str = "",
        album: str | None = None,
        size: int | None = None,
        origin: Json | None = None,
        **how: Any,
    ) -> Message:
        """`origin`: whose it was, when it is forwarded."""
        file = self._cloud.files.add("photos", ".jpg", content, size)
        small = self._cloud.files.add("photos", ".jpg", content[:1024])
        media: Json = {"photo": [photo_size(small, 90, 67), photo_size(file, 1280, 960)]}
        if album is not None:
            media["media_group_id"] = album
        if origin is not None:
            media["forward_origin"] = origin
        return self._sends(chat, text=caption, media=media, **how)

    async def sends_document(
        self,
        name: str,
        content: bytes,
        caption: str = "",
        chat: Chat | None = None,
        *,
        size: int | None = None,
        mime_type: str = "application/octet-stream",
        album: str | None = None,
        **how: Any,
    ) -> Message:
        file = self._cloud.files.add("documents", "." + name.rpartition(".")[2], content, size)
        media: Json = {"document": file.json() | {"file_name": name, "mime_type": mime_type}}
        if album is not None:
            media["media_group_id"] = album
        return self._sends(chat, text=caption, media=media, **how)

    async def sends_voice(
        self,
        content: bytes,
        chat: Chat | None = None,
        *,
        seconds: int = 3,
        origin: Json | None = None,
        **how: Any,
    ) -> Message:
        """`origin`: whose it was, when it is forwarded."""
        file = self._cloud.files.add("voice", ".oga", content)
        voice = file.json() | {"duration": seconds, "mime_type": "audio/ogg"}
        media = {"voice": voice} | ({"forward_origin": origin} if origin else {})
        return self._sends(chat, media=media, **how)

    async def sends_sticker(self, chat: Chat | None = None, **how: Any) -> Message:
        file = self._cloud.files.add("stickers", ".webp", b"sticker")
        sticker = photo_size(file, 512, 512) | {
            "type": "regular",
            "is_animated": False,
            "is_video": False,
            "emoji": "👍",
        }
        return self._sends(chat, media={"sticker": sticker}, **how)

    async def forwards(
        self, text: str, chat: Chat | None = None, *, by: Person | None = None, **how: Any
    ) -> Message:
        """Something that `by`, or somebody we do not know, had written elsewhere."""
        date = int(self._cloud.now()) - 60
        origin: Json = {"type": "hidden_user", "sender_user_name": "Somebody", "date": date}
        if by is not None:
            origin = {"type": "user", "sender_user": by.user, "date": date}
        return self._sends(chat, text=text, media={"forward_origin": origin}, **how)

    async def edits(self, message: Message | int, text: str, chat: Chat | None = None) -> Message:
        where = self._place(chat)
        message_id = message if isinstance(message, int) else message.id
        found = where.message(message_id)
        if found is None or found.sender["id"] != self.id:
            raise ValueError(f"{self.user['first_name']} has no message {message_id} to edit")
        found.text, found.entities = text, commands(text)
        self._cloud.edited(found)
        self._cloud.tell("edited_message", where, found.json())
        return found

    async def presses(
        self,
        label_or_data: str,
        message: Message | None = None,
        chat: Chat | None = None,
    ) -> Press:
        """The newest button of that label or data in the chat, unless the message is given."""
        where = self._place(chat)
        shown = [message] if message is not None else reversed(where.messages)
        for each in shown:
            if (data := data_of(each, label_or_data)) is not None:
                return self._press(each, data)
        raise AssertionError(f"There is no button {label_or_data!r} to press:\n{where.text()}")

    async def presses_again(self, press: Press) -> Press:
        """A second press of the same button, even if it has gone from the screen since."""
        return self._press(press.message, press.data)

    async def presses_gone(self, message: Message, data: str) -> Press:
        """A button that was on their screen a moment ago."""
        return self._press(message, data)

    async def opens_topic(self, name: str, chat: Chat) -> int:
        """The id of the thread."""
        topic, message = self._cloud.open_topic(self._place(chat), self.user, name)
        self._cloud.tell("message", chat, message.json())
        return topic.thread

    async def closes_topic(self, thread: int, chat: Chat, *, closed: bool = True) -> None:
        chat.topics[thread].closed = closed
        what = "forum_topic_closed" if closed else "forum_topic_reopened"
        message = self._cloud.post(self._place(chat), self.user, thread=thread, media={what: {}})
        self._cloud.tell("message", chat, message.json())

    def _press(self, message: Message, data: str) -> Press:
        press = self._cloud.presses.add(message, data)
        self._cloud.updates.add("callback_query", callback_query(press, self.user))
        return press

    def _sends(
        self,
        chat: Chat | None,
        *,
        reply_to: Message | int | None = None,
        thread: int | None = None,
        date: int | None = None,
        **contents: Any,
    ) -> Message:
        where = self._place(chat)
        if thread is not None and thread not in where.topics:
            raise ValueError(f"Chat {where.id} has no topic {thread}")
        answered = where.message(reply_to) if isinstance(reply_to, int) else reply_to
        message = self._cloud.post(
            where, self.user, date=date, thread=thread, reply_to=answered, **contents
        )
        self._cloud.tell("message", where, message.json())
        return message

    def _place(self, chat: Chat | None) -> Chat:
        where = self.chat if chat is None else chat
        if self.id not in where.members:
            raise ValueError(f"{self.user['first_name']} is not in chat {where.id}")
        return where


def commands(text: str) -> list[Entity]:
    """People's apps mark commands by themselves."""
    return [
        {"type": "bot_command", "offset": units(text[: each.start()]), "length": len(each[0])}
        for each in re.finditer(r"(?<!\S)/[A-Za-z0-9_]{1,64}(@\w+)?", text)
    ]


def photo_size(file: File, width: int, height: int) -> Json:
    return file.json() | {"width": width, "height": height}


def data_of(message: Message, label_or_data: str) -> str | None:
    for row in message.buttons:
        for button in row:
            if label_or_data in (button["text"], button.get("callback_data")):
                return button.get("callback_data")
    return None
