"""Every method the stand-in knows, by its name in lower case: Telegram does not mind the case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from . import sending, topics
from .checks import check_commands, check_toast
from .cloud import Cloud
from .messages import Json
from .sending import Params


def get_me(cloud: Cloud, params: Params) -> Json:
    return cloud.bot | {
        "can_join_groups": True,
        "can_read_all_group_messages": True,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


def delete_webhook(cloud: Cloud, params: Params) -> bool:
    if params.get("drop_pending_updates"):
        cloud.updates.forget()
    return True


def set_my_commands(cloud: Cloud, params: Params) -> bool:
    commands = params.get("commands") or []
    check_commands(commands)
    cloud.commands[scope(params)] = commands
    return True


def delete_my_commands(cloud: Cloud, params: Params) -> bool:
    cloud.commands.pop(scope(params), None)
    return True


def get_my_commands(cloud: Cloud, params: Params) -> list[Json]:
    return cloud.commands.get(scope(params), [])


def scope(params: Params) -> str:
    where = params.get("scope") or {"type": "default"}
    said = orjson.dumps(where, option=orjson.OPT_SORT_KEYS).decode()
    return said + str(params.get("language_code", ""))


def answer_callback_query(cloud: Cloud, params: Params) -> bool:
    check_toast(params)
    cloud.presses.answer(
        params.get("callback_query_id", ""),
        params.get("text", ""),
        alert=params.get("show_alert", False),
    )
    return True


def get_file(cloud: Cloud, params: Params) -> Json:
    file = cloud.files.to_download(params.get("file_id", ""))
    return file.json() | {"file_path": file.path}


def get_chat(cloud: Cloud, params: Params) -> Json:
    gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription",
             "gifts_from_channels")  # fmt: skip
    return cloud.chat(params.get("chat_id")).json() | {
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(gifts, False),
    }


Method = Callable[[Cloud, Params], Any]

COUNTED: dict[str, Method] = {
    "sendMessage": sending.send_message,
    "sendMessageDraft": sending.send_message_draft,
    "sendDocument": sending.send_document,
    "sendPhoto": sending.send_photo,
    "sendChatAction": sending.send_chat_action,
    "editMessageText": sending.edit_message_text,
    "editMessageCaption": sending.edit_message_caption,
    "editMessageReplyMarkup": sending.edit_message_reply_markup,
    "deleteMessage": sending.delete_message,
    "setMessageReaction": sending.set_message_reaction,
    "createForumTopic": topics.create_forum_topic,
    "editForumTopic": topics.edit_forum_topic,
    "closeForumTopic": topics.close_forum_topic,
    "reopenForumTopic": topics.reopen_forum_topic,
    "deleteForumTopic": topics.delete_forum_topic,
}
"""Those that use up a chat's budget, and that a bar of the chat keeps out."""

FREE: dict[str, Method] = {
    "getMe": get_me,
    "deleteWebhook": delete_webhook,
    "setMyCommands": set_my_commands,
    "deleteMyCommands": delete_my_commands,
    "getMyCommands": get_my_commands,
    "answerCallbackQuery": answer_callback_query,
    "getFile": get_file,
    "getChat": get_chat,
}

GET_UPDATES = "getUpdates"
NAMES = {name.lower(): name for name in [*COUNTED, *FREE, GET_UPDATES]}
