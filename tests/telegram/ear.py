"""The inbox by itself, against the stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from telegram import Update

from claude_sessions.clock import Clock, SystemClock
from claude_sessions.eventlog import EventLog
from claude_sessions.telegram.courier import connected
from claude_sessions.telegram.inbox import Inbox
from tests.botapi import BotApi
from tests.telegram.post import BOT


class HastyClock(SystemClock):
    """Sleeps a moment instead, and notes for how long it should have."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(min(seconds, 0.005))


class Heard:
    """What the inbox gives to whoever handles it, and what it complains of."""

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self.troubles: list[str | None] = []

    @property
    def texts(self) -> list[str | None]:
        return [update.message.text for update in self.updates if update.message]


@asynccontextmanager
async def inbox_in(
    directory: Path, api: BotApi, heard: Heard, clock: Clock | None = None
) -> AsyncIterator[Inbox]:
    async with (
        EventLog(directory / "log.db", runner="r1") as log,
        connected(api.token, api.base_url, api.base_file_url) as bot,
    ):
        inbox = Inbox(
            bot,
            bot_id=BOT,
            log=log,
            clock=clock or SystemClock(),
            handle=heard.updates.append,
            trouble=heard.troubles.append,
        )
        polling = asyncio.create_task(inbox.run())
        try:
            yield inbox
        finally:
            polling.cancel()
            await asyncio.wait([polling])
        assert polling.cancelled(), polling.exception()
