"""Files from a chat, as Claude takes them; and which files may go out to one."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from telegram import Bot, Message

from claude_sessions.errors import BadRequest
from claude_sessions.model import new_id
from claude_sessions.telegram.courier import Undelivered, outcomes

LARGEST_IN = 20 * 1024 * 1024  # what a bot may fetch
LARGEST_WITHIN = 5 * 1024 * 1024  # what the model takes in one piece
ALL_WITHIN = 15 * 1024 * 1024  # of one message: a request has room for 32 MB, as text that it is
LARGEST_TEXT = 400_000
LONGEST_NAME = 80
REFUSED = {
    "sticker": "a sticker",
    "video": "a video",
    "video_note": "a video note",
    "animation": "an animation",
    "audio": "an audio file",
    "location": "a location",
    "venue": "a venue",
    "contact": "a contact",
    "poll": "a poll",
    "dice": "dice",
    "game": "a game",
    "story": "a story",
    "paid_media": "paid media",
    "checklist": "a checklist",
}
UNSAFE = re.compile(r"[^\w.()+ -]")
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """`note` goes into the prompt: what the attachments are, or where a file lies."""

    attachments: tuple[Mapping[str, Any], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    name: str
    kind: str
    data: bytes = field(repr=False)


def uploads_in(home: Path) -> Path:
    """Where what people sent lies that the model cannot take in itself."""
    return home.resolve() / "uploads"


def sort_of(message: Message) -> str:
    """What cannot be passed on, in words; empty: it can."""
    for name, words in REFUSED.items():
        if getattr(message, name, None) and not message.document:
            return words
    return ""


def says_nothing(message: Message) -> bool:
    """Somebody joined, a topic was opened, a message was pinned: nobody has spoken."""
    said = message.text or message.caption or message.photo or message.document or message.voice
    return not said and not sort_of(message)


async def received(bot: Bot, messages: Sequence[Message], keep: Path | None = None) -> Received:
    """`keep`: where files go that the model cannot take in itself; None: they lie there already."""
    attachments: list[Mapping[str, Any]] = []
    notes: list[str] = []
    room = ALL_WITHIN
    for message in messages:
        if (file := await _file(bot, message)) is None:
            continue
        fits = len(file.data) <= min(room, LARGEST_WITHIN)
        if fits and (block := _block(file)) is not None:
            room -= len(file.data)
            attachments.append(block)
            notes += [f"[{file.name} is attached]"] if message.document else []
        elif keep is not None:
            notes.append(f"[{file.name} lies at {await _path(keep, file)}]")
    return Received(attachments=tuple(attachments), note="\n".join(notes))


async def _file(bot: Bot, message: Message) -> File | None:
    if message.photo:
        photo = message.photo[-1]
        data = await fetched(bot, photo.file_id, photo.file_size, "The photo")
        return File(name="photo.jpg", kind="image/jpeg", data=data)
    if (document := message.document) is None:
        return None
    name = Path(document.file_name or "file").name or "file"
    data = await fetched(bot, document.file_id, document.file_size, name)
    return File(name=name, kind=document.mime_type or "", data=data)


def _block(file: File) -> Mapping[str, Any] | None:
    """None: the model cannot take it in."""
    if file.kind in IMAGES:
        return _image(file.kind, file.data)
    if file.kind == "application/pdf":
        source = {"type": "base64", "media_type": file.kind, "data": _base64(file.data)}
        return {"type": "document", "source": source, "title": file.name}
    if (text := _as_text(file.data)) is not None:
        source = {"type": "text", "media_type": "text/plain", "data": text}
        return {"type": "document", "source": source, "title": file.name}
    return None


async def _path(keep: Path, file: File) -> Path:
    try:
        return await asyncio.to_thread(_kept, keep, file.name, file.data)
    except OSError as error:
        raise BadRequest(
            f"{file.name} could not be kept: {error.strerror}. Send it again."
        ) from error


def _kept(keep: Path, name: str, data: bytes) -> Path:
    """In a folder of its own that nobody can guess: who knows the path was told it."""
    folder = keep / new_id()
    folder.mkdir(parents=True, mode=0o700)
    path = folder / (UNSAFE.sub("_", name)[-LONGEST_NAME:].lstrip(". ") or "file")
    path.write_bytes(data)
    return path


async def fetched(bot: Bot, file_id: str, size: int | None, name: str) -> bytes:
    if size is not None and size > LARGEST_IN:
        raise BadRequest(
            f"{name} has {size / 1024 / 1024:.0f} MB, and a bot may fetch 20."
            " Put it where the session is, and name it."
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
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": kind, "data": _base64(data)},
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _as_text(data: bytes) -> str | None:
    if len(data) > LARGEST_TEXT or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
