"""Telegram itself, without its doors: the bot, the chats, the files, what waits to be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .chats import Chat, Topic
from .files import Files
from .messages import Json, Message
from .presses import Presses
from .refusals import Refused, bad_request
from .updates import Updates

RIGHTS = (
    "can_be_edited",
    "is_anonymous",
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_manage_topics",
)


class Cloud:
    def __init__(
        self,
        *,
        bot: Json,
        clock: Callable[[], float],
        now: Callable[[], float],
        presses_expire_after: float,
        first_update: int,
    ) -> None:
        self.bot = bot
        self.clock = clock
        self.now = now
        self.chats: dict[int, Chat] = {}
        self.updates = Updates(first_update)
        self.presses = Presses(clock=clock, expire_after=presses_expire_after)
        self.files = Files()
        self.commands: dict[str, list[Json]] = {}

    def chat(self, chat_id: Any) -> Chat:
        if (chat := self.chats.get(chat_id)) is None:
            raise bad_request("chat not found")
        return chat

    def post(self, chat: Chat, sender: Json, date: int | None = None, **contents: Any) -> Message:
        when = int(self.now()) if date is None else date
        mine = sender is self.bot
        return chat.add(sender=sender, date=when, at=self.clock(), mine=mine, **contents)

    def edited(self, message: Message) -> None:
        message.edits += 1
        message.edited_at = self.clock()
        message.edit_date = int(self.now())
        self.chats[message.chat["id"]].changed(message)

    def tell(self, kind: str, chat: Chat, contents: Json) -> None:
        """A bot hears nothing from where it was thrown out."""
        if chat.barred is None or chat.barred.code != 403:
            self.updates.add(kind, contents)

    def open_topic(self, chat: Chat, by: Json, name: str, **icon: Any) -> tuple[Topic, Message]:
        """The service message that opens a topic gives it its id."""
        topic = Topic(thread=0, name=name, mine=by is self.bot, **icon)
        told: Json = {"name": name, "icon_color": topic.icon_color}
        message = self.post(chat, by, media={"forum_topic_created": told})
        topic.thread = message.thread = message.id
        chat.topics[topic.thread] = topic
        return topic, message

    def bar(self, chat: Chat, why: Refused | None, by: Json) -> None:
        before, after = membership(chat.barred), membership(why)
        chat.barred = why
        self.tell_of_bot(chat, before, after, by)

    def tell_of_bot(self, chat: Chat, before: str, after: str, by: Json) -> None:
        """As it is told when somebody blocks it, removes it, lets it back, gives it rights."""
        self.updates.add(
            "my_chat_member",
            {
                "chat": chat.json(),
                "from": by,
                "date": int(self.now()),
                "old_chat_member": self._as(before),
                "new_chat_member": self._as(after),
            },
        )

    def _as(self, status: str) -> Json:
        rights = dict.fromkeys(RIGHTS, True) if status == "administrator" else {"until_date": 0}
        return {"user": self.bot, "status": status, **rights}


def membership(barred: Refused | None) -> str:
    return "member" if barred is None or barred.code != 403 else "kicked"
