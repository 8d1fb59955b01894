"""The methods for the topics of a forum."""

from __future__ import annotations

from .chats import Chat, Topic
from .checks import check_topic_name
from .cloud import Cloud
from .messages import Json
from .refusals import bad_request
from .sending import Params

COLORS = frozenset({0x6FB9F0, 0xFFD67E, 0xCB86DB, 0x8EEE98, 0xFF93B2, 0xFB6F5F})


def create_forum_topic(cloud: Cloud, params: Params) -> Json:
    chat = forum(cloud, params)
    if not chat.manages_topics:
        raise bad_request("not enough rights to create a topic")
    name = params.get("name", "").strip()
    check_topic_name(name)
    color = params.get("icon_color", 0x6FB9F0)
    if color not in COLORS:
        raise bad_request("TOPIC_ICON_COLOR_INVALID")
    icon = params.get("icon_custom_emoji_id")
    topic, _ = cloud.open_topic(chat, cloud.bot, name, icon_color=color, icon=icon)
    told = {"message_thread_id": topic.thread, "name": name, "icon_color": color}
    return told | {"icon_custom_emoji_id": icon} if icon else told


def edit_forum_topic(cloud: Cloud, params: Params) -> bool:
    chat = forum(cloud, params)
    topic = topic_to(chat, params, "edit the topic")
    name = params.get("name", topic.name).strip() or topic.name
    check_topic_name(name)
    icon = params.get("icon_custom_emoji_id", topic.icon)
    if (name, icon) == (topic.name, topic.icon):
        raise bad_request("TOPIC_NOT_MODIFIED")
    topic.name, topic.icon = name, icon
    announce(cloud, chat, topic, "forum_topic_edited", {"name": name})
    return True


def close_forum_topic(cloud: Cloud, params: Params) -> bool:
    return turn(cloud, params, closed=True)


def reopen_forum_topic(cloud: Cloud, params: Params) -> bool:
    return turn(cloud, params, closed=False)


def turn(cloud: Cloud, params: Params, *, closed: bool) -> bool:
    chat = forum(cloud, params)
    topic = topic_to(chat, params, "close the topic" if closed else "reopen the topic")
    if topic.closed is closed:
        raise bad_request("TOPIC_NOT_MODIFIED")
    topic.closed = closed
    announce(cloud, chat, topic, "forum_topic_closed" if closed else "forum_topic_reopened", {})
    return True


def delete_forum_topic(cloud: Cloud, params: Params) -> bool:
    chat = forum(cloud, params)
    chat.drop_topic(topic_to(chat, params, "delete the topic").thread)
    return True


def forum(cloud: Cloud, params: Params) -> Chat:
    chat = cloud.chat(params.get("chat_id"))
    if not chat.forum:
        raise bad_request("the chat is not a forum")
    return chat


def topic_to(chat: Chat, params: Params, wish: str) -> Topic:
    """One's own topics need no right."""
    thread = params.get("message_thread_id") or 0
    if thread <= 0:
        raise bad_request("invalid message thread identifier specified")
    if (topic := chat.topics.get(thread)) is None:
        raise bad_request("TOPIC_ID_INVALID")
    if not (chat.manages_topics or topic.mine):
        raise bad_request(f"not enough rights to {wish}")
    return topic


def announce(cloud: Cloud, chat: Chat, topic: Topic, what: str, told: Json) -> None:
    cloud.post(chat, cloud.bot, thread=topic.thread, media={what: told})
