"""The methods that put messages on the screen, change them and take them away."""

from __future__ import annotations

from typing import Any

from .chats import Chat
from .checks import (
    LARGEST_PHOTO,
    LARGEST_UPLOAD,
    check_action,
    check_upload,
    checked,
    checked_caption,
    checked_markup,
    checked_text,
)
from .cloud import Cloud
from .entities import same
from .files import File
from .forms import Upload
from .messages import Json, Message
from .refusals import bad_request

DELETABLE_SECONDS = 48 * 3600
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly "
    "the same as a current content and reply markup of the message"
)

Params = dict[str, Any]


def send_message(cloud: Cloud, params: Params) -> Json:
    chat = cloud.chat(params.get("chat_id"))
    text, entities = checked_text(params)
    return posted(cloud, chat, params, text=text, entities=entities)


def send_document(cloud: Cloud, params: Params) -> Json:
    chat = cloud.chat(params.get("chat_id"))
    caption, entities = checked_caption(params)
    file, name = given_file(cloud, params, "document", LARGEST_UPLOAD)
    media = {"document": file.json() | {"file_name": name or "file"}}
    return posted(cloud, chat, params, text=caption, entities=entities, media=media)


def send_photo(cloud: Cloud, params: Params) -> Json:
    chat = cloud.chat(params.get("chat_id"))
    caption, entities = checked_caption(params)
    file, _ = given_file(cloud, params, "photo", LARGEST_PHOTO)
    media = {"photo": [file.json() | {"width": 640, "height": 480}]}
    return posted(cloud, chat, params, text=caption, entities=entities, media=media)


def given_file(cloud: Cloud, params: Params, kind: str, largest: int) -> tuple[File, str]:
    given = params.get(kind)
    if isinstance(given, str) and given.startswith("attach://"):
        given = params.get(given.removeprefix("attach://"))
    if isinstance(given, str):
        return cloud.files.known(given), ""
    if not isinstance(given, Upload):
        raise bad_request(f"there is no {kind} in the request")
    check_upload(given.content, largest)
    return cloud.files.add(f"{kind}s", suffix(given.name), given.content), given.name


def suffix(name: str) -> str:
    _, dot, end = name.rpartition(".")
    return dot + end


def posted(cloud: Cloud, chat: Chat, params: Params, **contents: Any) -> Json:
    markup = checked_markup(params)
    answered = replied_to(chat, params)
    thread = thread_of(chat, params)
    if thread is None and answered is not None:
        thread = answered.thread
    message = cloud.post(
        chat,
        cloud.bot,
        markup=markup,
        reply_to=answered,
        thread=thread,
        silent=params.get("disable_notification", False),
        **contents,
    )
    return message.json()


def thread_of(chat: Chat, params: Params) -> int | None:
    thread: int | None = params.get("message_thread_id")
    if thread is None:
        return None
    if (topic := chat.topics.get(thread)) is None:
        raise bad_request("message thread not found")
    if topic.closed and not chat.manages_topics:
        raise bad_request("TOPIC_CLOSED")
    return thread


def replied_to(chat: Chat, params: Params) -> Message | None:
    reply = params.get("reply_parameters") or {}
    if (message_id := reply.get("message_id")) is None:
        return None
    found = chat.message(message_id)
    if found is None and not reply.get("allow_sending_without_reply"):
        raise bad_request("message to be replied not found")
    return found


def edit_message_text(cloud: Cloud, params: Params) -> Json:
    message = to_edit(cloud, params)
    text, entities = checked_text(params, too_long="MESSAGE_TOO_LONG")
    if message.media_file() is not None:
        raise bad_request("there is no text in the message to edit")
    return changed(cloud, message, text, entities, checked_markup(params))


def edit_message_caption(cloud: Cloud, params: Params) -> Json:
    message = to_edit(cloud, params)
    caption, entities = checked_caption(params)
    if message.media_file() is None:
        raise bad_request("there is no caption in the message to edit")
    return changed(cloud, message, caption, entities, checked_markup(params))


def edit_message_reply_markup(cloud: Cloud, params: Params) -> Json:
    message = to_edit(cloud, params)
    return changed(cloud, message, message.text, message.entities, checked_markup(params))


def to_edit(cloud: Cloud, params: Params) -> Message:
    message = cloud.chat(params.get("chat_id")).message(params.get("message_id"))
    if message is None:
        raise bad_request("message to edit not found")
    if not message.mine or message.is_service:
        raise bad_request("message can't be edited")
    return message


def changed(
    cloud: Cloud, message: Message, text: str, entities: list[Json], markup: Json | None
) -> Json:
    """A markup that is not given is taken away."""
    rows = (markup or {}).get("inline_keyboard", [])
    if text == message.text and same(entities, message.entities) and rows == message.buttons:
        raise bad_request(NOT_MODIFIED)
    message.text, message.entities, message.markup = text, entities, markup
    cloud.edited(message)
    return message.json()


def delete_message(cloud: Cloud, params: Params) -> bool:
    chat = cloud.chat(params.get("chat_id"))
    message = chat.message(params.get("message_id"))
    if message is None:
        raise bad_request("message to delete not found")
    if "forum_topic_created" in message.media:
        raise bad_request("message can't be deleted")
    if cloud.now() - message.date > DELETABLE_SECONDS:
        raise bad_request("message can't be deleted for everyone")
    chat.delete(message)
    return True


def send_chat_action(cloud: Cloud, params: Params) -> bool:
    chat = cloud.chat(params.get("chat_id"))
    thread_of(chat, params)
    check_action(params.get("action", ""))
    chat.actions.append(params["action"])
    return True


def send_message_draft(cloud: Cloud, params: Params) -> bool:
    chat = cloud.chat(params.get("chat_id"))
    if not chat.private:
        raise bad_request("TEXTDRAFT_PEER_INVALID")
    if not params.get("draft_id"):
        raise bad_request("draft_id must be non-zero")
    text, _ = (
        checked(params, "text", "entities") if not params.get("text") else checked_text(params)
    )
    thread_of(chat, params)
    chat.drafts[params["draft_id"]] = text
    chat.changed()
    return True


def set_message_reaction(cloud: Cloud, params: Params) -> bool:
    chat = cloud.chat(params.get("chat_id"))
    message = chat.message(params.get("message_id"))
    if message is None:
        raise bad_request("message to react not found")
    message.reactions = params.get("reaction") or []
    chat.changed(message)
    return True
