"""Files from a chat, as Claude takes them; and which files may go out to one."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from telegram import Bot, Message

from claude_sessions.errors import BadRequest
from claude_sessions.telegram.courier import Undelivered, outcomes

LARGEST_IN = 20 * 1024 * 1024  # what a bot may fetch
LARGEST_IMAGE = 5 * 1024 * 1024  # what the model takes
LARGEST_TEXT = 400_000
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """`note` goes into the prompt: what the attachments are, or where a file lies."""

    attachments: tuple[Mapping[str, Any], ...] = ()
    note: str = ""


def sort_of(message: Message) -> str:
    """What cannot be passed on, in a word; empty: it can."""
    for name in ("sticker", "video", "video_note", "animation", "audio", "location", "contact"):
        if getattr(message, name) and not message.document:
            return name.replace("_", " ")
    return "poll" if message.poll else ""


async def received(bot: Bot, messages: Sequence[Message], keep: Path) -> Received:
    """`keep`: where files go that the model cannot take in itself."""
    attachments: list[Mapping[str, Any]] = []
    notes: list[str] = []
    for message in messages:
        if message.photo:
            largest = message.photo[-1]
            data = await fetched(bot, largest.file_id, largest.file_size, "photo")
            attachments.append(_image("image/jpeg", data))
        elif message.document is not None:
            made, note = await _document(bot, message, keep)
            attachments += made
            notes += note
    return Received(attachments=tuple(attachments), note="\n".join(notes))


async def _document(
    bot: Bot, message: Message, keep: Path
) -> tuple[list[Mapping[str, Any]], list[str]]:
    document = message.document
    assert document is not None
    name = Path(document.file_name or "file").name or "file"
    data = await fetched(bot, document.file_id, document.file_size, name)
    kind = document.mime_type or ""
    if kind in IMAGES and len(data) <= LARGEST_IMAGE:
        return [_image(kind, data)], [f"[{name} is attached]"]
    if kind == "application/pdf":
        source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
        return [{"type": "document", "source": source, "title": name}], [f"[{name} is attached]"]
    if (text := _as_text(data)) is not None:
        source = {"type": "text", "media_type": "text/plain", "data": text}
        return [{"type": "document", "source": source, "title": name}], [f"[{name} is attached]"]
    path = await asyncio.to_thread(_kept, keep, f"{message.message_id}-{name}", data)
    return [], [f"[{name} lies at {path}]"]


def _kept(keep: Path, name: str, data: bytes) -> Path:
    keep.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = keep / name
    path.write_bytes(data)
    return path


async def fetched(bot: Bot, file_id: str, size: int | None, name: str) -> bytes:
    if size is not None and size > LARGEST_IN:
        megabytes = size / 1024 / 1024
        raise BadRequest(
            f"{name} has {megabytes:.0f} MB, and a bot may fetch 20. Put it where the session is."
        )
    try:
        async with outcomes():
            file = await bot.get_file(file_id)
            return bytes(await file.download_as_bytearray())
    except Undelivered as error:
        raise BadRequest(
            f"{name} could not be fetched from Telegram: {error}. Send it again."
        ) from (error)


def _image(kind: str, data: bytes) -> Mapping[str, Any]:
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def _as_text(data: bytes) -> str | None:
    if len(data) > LARGEST_TEXT or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
