"""What Telegram refuses in the contents of a request. Pure: given the parameters, no state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .entities import Entity, check_entities, trimmed, units
from .refusals import Refused, bad_request

LONGEST_TEXT = 4096
LONGEST_CAPTION = 1024
LONGEST_TOAST = 200
LONGEST_DATA = 64
LONGEST_LABEL = 256
MOST_BUTTONS = 100
MOST_IN_A_ROW = 8
MOST_COMMANDS = 100
LONGEST_TOPIC = 128
LARGEST_UPLOAD = 50 * 1024 * 1024
LARGEST_PHOTO = 10 * 1024 * 1024
LARGEST_DOWNLOAD = 20 * 1024 * 1024
ACTIONS = frozenset({
    "choose_sticker", "find_location", "record_video", "record_video_note", "record_voice",
    "typing", "upload_document", "upload_photo", "upload_video", "upload_video_note",
    "upload_voice",
})  # fmt: skip
BUTTON_ACTIONS = (
    "callback_data", "callback_game", "copy_text", "login_url", "pay", "switch_inline_query",
    "switch_inline_query_chosen_chat", "switch_inline_query_current_chat", "url", "web_app",
)  # fmt: skip

Markup = dict[str, Any]


def checked_text(
    params: Mapping[str, Any], too_long: str = "message is too long"
) -> tuple[str, list[Entity]]:
    text, entities = checked(params, "text", "entities")
    if not text:
        raise bad_request("message text is empty")
    if units(text) > LONGEST_TEXT:
        raise bad_request(too_long)
    return text, entities


def checked_caption(params: Mapping[str, Any]) -> tuple[str, list[Entity]]:
    caption, entities = checked(params, "caption", "caption_entities")
    if units(caption) > LONGEST_CAPTION:
        raise bad_request("message caption is too long")
    return caption, entities


def checked(params: Mapping[str, Any], name: str, marks: str) -> tuple[str, list[Entity]]:
    if "parse_mode" in params:
        raise bad_request(f"parse_mode is given: we send {marks}, which cannot be misread")
    text, entities = params.get(name, ""), params.get(marks) or []
    check_entities(text, entities)
    return trimmed(text, entities)


def checked_markup(params: Mapping[str, Any]) -> Markup | None:
    markup = params.get("reply_markup")
    if markup is None:
        return None
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    if "inline_keyboard" in markup:
        check_keyboard(markup["inline_keyboard"])
    return markup


def check_keyboard(rows: Sequence[Sequence[Markup]]) -> None:
    if sum(map(len, rows)) > MOST_BUTTONS:
        raise bad_request("reply markup is too long")
    for row in rows:
        if len(row) > MOST_IN_A_ROW:
            raise bad_request(f"a row of {len(row)} buttons, at most {MOST_IN_A_ROW} are shown")
        for button in row:
            check_button(button)


def check_button(button: Markup) -> None:
    label = button.get("text", "")
    if not label.strip() or units(label) > LONGEST_LABEL:
        raise bad_request("BUTTON_TEXT_INVALID")
    if sum(action in button for action in BUTTON_ACTIONS) != 1:
        raise bad_request("text buttons are unallowed in the inline keyboard")
    data = button.get("callback_data")
    if data is not None and not 1 <= len(data.encode()) <= LONGEST_DATA:
        raise bad_request("BUTTON_DATA_INVALID")


def check_toast(params: Mapping[str, Any]) -> None:
    if units(params.get("text", "")) > LONGEST_TOAST:
        raise bad_request("MESSAGE_TOO_LONG")


def check_commands(commands: Sequence[Mapping[str, str]]) -> None:
    if len(commands) > MOST_COMMANDS:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for each in commands:
        if not re.fullmatch(r"[a-z0-9_]{1,32}", each.get("command", "")):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= units(each.get("description", "").strip()) <= 256:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")


def check_topic_name(name: str) -> None:
    if not name.strip():
        raise bad_request("TOPIC_TITLE_EMPTY")
    if units(name) > LONGEST_TOPIC:
        raise bad_request("TOPIC_TITLE_TOO_LONG")


def check_action(action: str) -> None:
    if action not in ACTIONS:
        raise bad_request("wrong parameter action in request")


def check_upload(content: bytes, largest: int) -> None:
    if not content:
        raise bad_request("file must be non-empty")
    if len(content) > largest:
        raise Refused(code=413, description="Request Entity Too Large")
