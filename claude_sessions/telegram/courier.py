"""Carrying one message to Telegram, and what may become of it: one closed set of outcomes.

Undelivered
├── Lost            nothing was heard: it may be there, or not
├── Unreached       it surely did not get there
├── TooSoon         Telegram asks for a pause, to the second
├── Refused         Telegram will never take it like this
├── MessageGone     there is no such message any more
├── TopicGone       there is no such topic any more
├── TopicClosed     nothing can be said in the topic
├── NoTopics        topics cannot be made or changed here
├── Unreachable     nothing can be said in this chat
├── Moved           the group has become another chat
└── Revoked         the token is not valid any more
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

import httpx

os.environ.setdefault("PTB_TIMEDELTA", "true")  # its own switch away from a deprecated form

from telegram import (
    Bot,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReplyParameters,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)
from telegram.request import HTTPXRequest

from claude_sessions.telegram.address import Address
from claude_sessions.telegram.bot import PollingBot, Polls
from claude_sessions.telegram.letters import Face, File, Keyboard
from claude_sessions.telegram.render import Rich, plain

SECONDS = 20.0
POOL = 64
TOAST = 200
NO_CHAT = re.compile(
    r"chat not found|not enough rights|need administrator rights|have no rights"
    r"|chat_write_forbidden|group chat was deactivated|user is deactivated|peer_id_invalid",
    re.IGNORECASE,
)
NO_TOPIC = re.compile(r"thread not found|topic_deleted|topic_id_invalid", re.I)
CLOSED_TOPIC = re.compile(r"topic_closed|topic is closed", re.I)
SAME_TOPIC = re.compile(r"topic_not_modified", re.I)
NO_RIGHTS = re.compile(r"rights|admin_required", re.I)
NO_MESSAGE = re.compile(
    r"message to (edit|delete) not found|message can't be (edited|deleted)|message_id_invalid", re.I
)
KEPT = re.compile(r"message can't be deleted", re.I)
TOO_LARGE = re.compile(r"\(413\)|entity too large", re.I)


class Undelivered(Exception):
    pass


class Lost(Undelivered):
    pass


class Unreached(Undelivered):
    pass


class TooSoon(Undelivered):
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"wait {seconds:.0f} s")


class Refused(Undelivered):
    pass


class MessageGone(Undelivered):
    pass


class TopicGone(Undelivered):
    pass


class TopicClosed(Undelivered):
    pass


class NoTopics(Undelivered):
    pass


class Unreachable(Undelivered):
    pass


class Moved(Undelivered):
    def __init__(self, chat: int) -> None:
        self.chat = chat
        super().__init__("moved")


class Revoked(Undelivered):
    pass


@asynccontextmanager
async def connected(token: str, base_url: str, base_file_url: str) -> AsyncIterator[PollingBot]:
    """Asks Telegram nothing yet: it may be out of reach. Long polls have their own connection."""
    request = HTTPXRequest(
        connection_pool_size=POOL,
        read_timeout=SECONDS,
        write_timeout=SECONDS,
        connect_timeout=10.0,
        pool_timeout=SECONDS,
    )
    polls = Polls(connection_pool_size=2, read_timeout=SECONDS)
    try:
        yield PollingBot(
            token,
            base_url=base_url,
            base_file_url=base_file_url,
            request=request,
            polls=polls,
        )
    finally:
        await request.shutdown()
        await polls.shutdown()


@asynccontextmanager
async def outcomes() -> AsyncIterator[None]:
    """What the library raises becomes one of ours."""
    try:
        yield
    except RetryAfter as error:
        seconds = error.retry_after
        raise TooSoon(seconds if isinstance(seconds, int) else seconds.total_seconds()) from error
    except ChatMigrated as error:
        raise Moved(error.new_chat_id) from error
    except (InvalidToken, Forbidden) as error:
        kind = Revoked if isinstance(error, InvalidToken) else Unreachable
        raise kind(str(error)) from error
    except BadRequest as error:
        raise _refusal(str(error)) from error
    except TimedOut as error:
        raise _unheard(error) from error
    except NetworkError as error:
        raise _unheard(error) from error
    except TelegramError as error:
        raise Lost(type(error).__name__) from error


@asynccontextmanager
async def topical() -> AsyncIterator[None]:
    """Where topics may not be touched one can still write; one that is so already is no trouble."""
    try:
        async with outcomes():
            yield
    except (Refused, Unreachable) as error:
        if SAME_TOPIC.search(str(error)):
            return
        if isinstance(error, Unreachable) and not NO_RIGHTS.search(str(error)):
            raise
        raise NoTopics(str(error)) from error


def _refusal(said: str) -> Undelivered:
    if CLOSED_TOPIC.search(said):
        return TopicClosed(said)
    if NO_TOPIC.search(said):
        return TopicGone(said)
    if NO_MESSAGE.search(said):
        return MessageGone(said)
    if NO_CHAT.search(said):
        return Unreachable(said)
    return Refused(said)


def _unheard(error: Exception) -> Undelivered:
    cause = error.__cause__
    if TOO_LARGE.search(str(error)):
        return Refused(str(error))
    if isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return Unreached(type(cause).__name__)
    return Lost(type(cause or error).__name__)


class Courier:
    """Each call is one request; raises one of the outcomes above, and nothing else on purpose."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def send(
        self, to: Address, face: Face, *, ring: bool, reply_to: int | None = None
    ) -> int:
        reply = None
        if reply_to is not None:
            reply = ReplyParameters(reply_to, allow_sending_without_reply=True)
        async with outcomes():
            if face.file is not None:
                return await self._send_file(to, face, ring, reply)
            message: Message = await self._bot.send_message(
                to.chat,
                face.rich.text,
                entities=entities_of(face.rich),
                message_thread_id=to.thread,
                disable_notification=not ring,
                reply_markup=_forced(to) if face.ask else markup(face.keyboard),
                reply_parameters=reply,
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
            return message.message_id

    async def _send_file(
        self, to: Address, face: Face, ring: bool, reply: ReplyParameters | None
    ) -> int:
        """Read as it is sent: a large one is never whole in memory."""
        assert face.file is not None
        file = face.file
        with _opened(file) as data:
            message: Message = await self._bot.send_document(
                to.chat,
                InputFile(data, filename=file.name, read_file_handle=False),
                caption=face.rich.text or None,
                message_thread_id=to.thread,
                disable_notification=not ring,
                reply_parameters=reply,
            )
        return message.message_id

    async def edit(self, chat: int, message: int, face: Face) -> None:
        if face.file is not None or face.ask:
            return  # a document stays as it was sent, and so does what waits for words
        try:
            async with outcomes():
                await self._bot.edit_message_text(
                    face.rich.text,
                    chat_id=chat,
                    message_id=message,
                    entities=entities_of(face.rich),
                    reply_markup=markup(face.keyboard),
                    link_preview_options=LinkPreviewOptions(is_disabled=True),
                )
        except Refused as error:
            if "not modified" not in str(error):
                raise

    async def delete(self, chat: int, message: int) -> None:
        """What is too old for that loses its words, and whatever could be pressed."""
        try:
            async with outcomes():
                await self._bot.delete_message(chat, message)
        except MessageGone as error:
            if not KEPT.search(str(error)):
                raise
            with suppress(Refused):  # a document has no words to lose
                await self.edit(chat, message, Face(rich=plain("…")))

    async def strip(self, chat: int, message: int) -> None:
        """Its words stay; nothing of it can be pressed."""
        async with outcomes():
            await self._bot.edit_message_reply_markup(chat, message)

    async def typing(self, to: Address) -> None:
        async with outcomes():
            await self._bot.send_chat_action(to.chat, "typing", message_thread_id=to.thread)

    async def draft(self, to: Address, number: int, rich: Rich) -> None:
        async with outcomes():
            await self._bot.send_message_draft(
                to.chat, number, rich.text, entities=entities_of(rich)
            )

    async def open_topic(self, chat: int, name: str) -> int:
        async with topical():
            topic = await self._bot.create_forum_topic(chat, name)
        return topic.message_thread_id

    async def name_topic(self, chat: int, thread: int, name: str) -> None:
        async with topical():
            await self._bot.edit_forum_topic(chat, thread, name=name)

    async def close_topic(self, chat: int, thread: int) -> None:
        async with topical():
            await self._bot.close_forum_topic(chat, thread)

    async def reopen_topic(self, chat: int, thread: int) -> None:
        async with topical():
            await self._bot.reopen_forum_topic(chat, thread)

    async def answer(self, press: str, toast: str, *, alert: bool = False) -> None:
        """The only thing that costs nothing of a chat's budget."""
        async with outcomes():
            await self._bot.answer_callback_query(press, toast[:TOAST] or None, show_alert=alert)


def _forced(to: Address) -> ForceReply:
    """In a group it would be forced on everybody."""
    return ForceReply(selective=not to.private)


def _opened(file: File) -> IO[bytes]:
    if not file.path:
        return io.BytesIO(file.text.encode())
    try:
        return Path(file.path).open("rb")
    except OSError as error:
        raise Refused(f"{file.name} is not there any more: {error.strerror}") from error


def entities_of(rich: Rich) -> list[MessageEntity]:
    return [
        MessageEntity(each.type, each.offset, each.length, url=each.url, language=each.language)
        for each in rich.entities
    ]


def markup(keyboard: Keyboard) -> InlineKeyboardMarkup | None:
    if not keyboard:
        return None
    return InlineKeyboardMarkup(
        [
            [InlineKeyboardButton(label, callback_data=token) for label, token in row]
            for row in keyboard
        ]
    )
