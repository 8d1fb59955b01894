"""A message as it stands on the screen now, and as Telegram tells the bot of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .entities import Entity

Json = dict[str, Any]


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """Changes as it is edited; keep it, and you see what people see."""

    id: int
    chat: Json
    sender: Json
    date: int
    at: float
    text: str = ""
    entities: list[Entity] = field(default_factory=list)
    markup: Json | None = None
    thread: int | None = None
    root: Message | None = None
    """The service message that opened its topic."""
    reply_to: Message | None = None
    silent: bool = False
    media: Json = field(default_factory=dict)
    """What else Telegram says of it: a document, a photo, a forward, a service message."""
    mine: bool = False
    """Whether the bot sent it."""
    edits: int = 0
    edited_at: float | None = None
    edit_date: int | None = None
    deleted: bool = False
    reactions: list[Json] = field(default_factory=list)

    @property
    def buttons(self) -> list[list[Json]]:
        rows: list[list[Json]] = (self.markup or {}).get("inline_keyboard", [])
        return rows

    @property
    def button_labels(self) -> list[str]:
        return [button["text"] for row in self.buttons for button in row]

    @property
    def document(self) -> Json | None:
        return self.media.get("document")

    @property
    def is_service(self) -> bool:
        return any(name.startswith(("forum_topic", "migrate")) for name in self.media)

    def json(self, *, nested: bool = False) -> Json:
        told: Json = {
            "message_id": self.id,
            "from": self.sender,
            "chat": self.chat,
            "date": self.date,
        }
        told |= self._contents() | self.media
        if self.edit_date:
            told["edit_date"] = self.edit_date
        if self.thread is not None:
            told |= {"message_thread_id": self.thread, "is_topic_message": True}
        elif self.reply_to is not None and self.chat["type"] == "supergroup":
            # A trap: it is the first message of the thread of replies, not a topic to send to.
            told["message_thread_id"] = self.reply_to.first_of_thread().id
        if not nested and (answered := self.reply_to or self.root) is not None:
            told["reply_to_message"] = answered.json(nested=True)
        return told

    def first_of_thread(self) -> Message:
        return self if self.reply_to is None else self.reply_to.first_of_thread()

    def _contents(self) -> Json:
        told: Json = {}
        if self.text:
            told["caption" if self.media_file() else "text"] = self.text
        if self.entities:
            told["caption_entities" if self.media_file() else "entities"] = self.entities
        if self.buttons:
            told["reply_markup"] = self.markup
        return told

    def media_file(self) -> Json | None:
        """The file it carries, so that its text is a caption."""
        for name in ("document", "voice", "sticker"):
            if name in self.media:
                return dict(self.media[name])
        return dict(self.media["photo"][-1]) if "photo" in self.media else None
