"""The outbox by itself, against the stand-in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from claude_sessions.channel import Action
from claude_sessions.clock import Clock, SystemClock
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.documents import Documents
from claude_sessions.storage.mail import StoredLetter
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.bindings import Bindings
from claude_sessions.telegram.chats import Chats
from claude_sessions.telegram.courier import Courier, connected
from claude_sessions.telegram.letters import Content
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.render import Rich, plain, styled
from claude_sessions.telegram.topics import Topics
from tests.botapi import BotApi, Message

BOT = 123456
ADA = Address(1001)
STOP = Action(label="Stop", line="/interrupt s1")


def words(text: str, *actions: Action, **more: Any) -> Content:
    return Content(parts=(plain(text),), actions=actions, **more)


def bold(text: str) -> Content:
    part: Rich = styled(text, "bold")
    return Content(parts=(part,))


@asynccontextmanager
async def outbox_in(
    directory: Path,
    api: BotApi,
    *,
    clock: Clock | None = None,
    pages: int | None = None,
    **how: Any,
) -> AsyncIterator[Outbox]:
    given = {"bot": BOT, "interval": 0.05, "close_seconds": 0.3, **how}
    async with (
        EventLog(directory / "log.db", runner="r1", max_pages=pages) as log,
        connected(api.token, api.base_url, api.base_file_url) as bot,
        _outbox(Courier(bot), log, directory, clock or SystemClock(), **given) as outbox,
    ):
        outbox.begin()
        yield outbox


def _outbox(courier: Courier, log: EventLog, directory: Path, clock: Clock, **how: Any) -> Outbox:
    documents = Documents(directory / "documents.json")
    chats = Chats(documents)
    topics = Topics(
        courier=courier,
        bindings=Bindings(documents),
        chats=chats,
        log=log,
        clock=clock,
        per="off",
    )
    return Outbox(courier, log=log, clock=clock, topics=topics, chats=chats, **how)


def waiting(outbox: Outbox) -> list[StoredLetter]:
    return outbox.mail.waiting(outbox.bot)


def texts(api: BotApi, chat: int = ADA.chat) -> list[str]:
    return [message.text for message in api.chat(chat).of_bot]


def shown(api: BotApi, chat: int = ADA.chat) -> list[Message]:
    return api.chat(chat).of_bot
