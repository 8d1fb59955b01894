"""The parameters of a request, out of the forms they come in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import orjson
from python_multipart.multipart import FormParser, parse_options_header

from .refusals import bad_request

INTEGERS = frozenset({
    "draft_id", "icon_color", "limit", "message_id", "message_thread_id", "offset",
    "reply_to_message_id", "timeout", "user_id",
})  # fmt: skip
BOOLEANS = frozenset({
    "allow_sending_without_reply", "disable_content_type_detection", "disable_notification",
    "drop_pending_updates", "is_big", "protect_content", "show_alert", "show_caption_above_media",
})  # fmt: skip
NESTED = frozenset({
    "allowed_updates", "caption_entities", "commands", "entities", "link_preview_options",
    "reaction", "reply_markup", "reply_parameters", "scope",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    name: str
    content: bytes = field(repr=False)


def parameters(content_type: str, body: bytes) -> dict[str, Any]:
    """Text stays as it is, even where it looks like JSON: only known fields are decoded."""
    kind, options = parse_options_header(content_type)
    if kind == b"multipart/form-data":
        fields = multipart(options.get(b"boundary", b""), body)
    else:
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True))
    return {name: decoded(name, value) for name, value in fields.items()}


def multipart(boundary: bytes, body: bytes) -> dict[str, Any]:
    fields: dict[str, Any] = {}

    def on_field(each: Any) -> None:
        fields[each.field_name.decode()] = (each.value or b"").decode()

    def on_file(each: Any) -> None:
        each.file_object.seek(0)
        name = (each.file_name or b"").decode()
        fields[each.field_name.decode()] = Upload(name=name, content=each.file_object.read())
        each.close()

    config = {"MAX_MEMORY_FILE_SIZE": len(body) + 1}
    parser = FormParser("multipart/form-data", on_field, on_file, boundary=boundary, config=config)
    parser.write(body)
    parser.finalize()
    return fields


def decoded(name: str, value: Any) -> Any:
    if isinstance(value, Upload):
        return value
    if name in NESTED:
        return nested(name, value)
    if name in BOOLEANS:
        return value.lower() in ("true", "1", "yes")
    if name in INTEGERS or (name == "chat_id" and not value.startswith("@")):
        return integer(name, value)
    return value


def nested(name: str, value: str) -> Any:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        raise bad_request(f"can't parse {name.replace('_', ' ')} JSON object") from None


def integer(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise bad_request(f"invalid {name} specified") from None
