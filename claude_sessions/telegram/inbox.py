"""The inbox: an update is written down before Telegram is told that we have it.

The offset is sent only to acknowledge. Once a poll has come back empty there is nothing left to
acknowledge, so none is sent: update ids may begin anew, and an old offset would make us deaf.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import orjson
import structlog
from telegram import Bot, Update
from telegram.error import Conflict, InvalidToken, TelegramError

from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.mail import Mail, StoredUpdate

POLL_SECONDS = 25
SLOWEST = 30.0
WANTED = ("message", "edited_message", "callback_query", "my_chat_member")

logger = structlog.get_logger(__name__)


class Inbox:
    """`handle` gets each update once, in the order of its arrival, and does not wait.

    `trouble` is told when something stands in the way, once, and None when that is over.
    """

    def __init__(
        self,
        bot: Bot,
        *,
        bot_id: int,
        log: EventLog,
        clock: Clock,
        handle: Callable[[Update], None],
        trouble: Callable[[str | None], None],
    ) -> None:
        self.polled_at: float | None = None  # monotonic
        self.trouble: str | None = None
        self._bot = bot
        self._bot_id = bot_id
        self._log = log
        self._clock = clock
        self._handle = handle
        self._tell = trouble
        self._offset: int | None = None

    @property
    def mail(self) -> Mail:
        return self._log.store.mail

    async def run(self) -> None:
        pause = 1.0
        while True:
            try:
                await self._poll()
            except (TelegramError, SessionsError) as error:
                self._hindered(_why(error))
                await self._clock.sleep(SLOWEST if isinstance(error, InvalidToken) else pause)
                pause = min(pause * 2, SLOWEST)
            else:
                self._hindered(None)
                pause = 1.0

    async def _poll(self) -> None:
        updates = await self._bot.get_updates(
            offset=self._offset, timeout=POLL_SECONDS, allowed_updates=list(WANTED)
        )
        self.polled_at = self._clock.monotonic()
        if not updates:
            self._offset = None
            return
        fresh = await self._write_down(updates)
        self._offset = max(update.update_id for update in updates) + 1
        for update in updates:
            if update.update_id in fresh:
                self._handle(update)

    async def _write_down(self, updates: Sequence[Update]) -> set[int]:
        raw = [(update.update_id, update.to_json()) for update in updates]
        at, head = self._clock.now().timestamp(), self._log.head
        return await self._log.change(
            lambda store: store.mail.take_in(self._bot_id, raw, at=at, head=head)
        )

    async def unfinished(self) -> list[tuple[StoredUpdate, bool]]:
        """What the last daemon left, in order, and whether it was carried out all the same."""
        left = await asyncio.to_thread(self.mail.unfinished, self._bot_id)
        if not left:
            return []
        causes = await asyncio.to_thread(self.mail.causes, min(update.head for update in left))
        done = {number for cause in causes for number in numbers_in(cause)}
        return [(update, update.update_id in done) for update in left]

    def read(self, stored: StoredUpdate) -> Update:
        from_json = Update.de_json(_parsed(stored.raw), self._bot)
        assert from_json is not None
        return from_json

    async def mark(self, update_ids: Sequence[int], state: str) -> None:
        bot = self._bot_id
        await self._log.change(lambda store: store.mail.mark(bot, update_ids, state))

    def _hindered(self, why: str | None) -> None:
        if why != self.trouble:
            self.trouble = why
            if why is not None:
                logger.warning("inbox.hindered", why=why)
            self._tell(why)


def _parsed(raw: str) -> dict[str, object]:
    data: dict[str, object] = orjson.loads(raw)
    return data


def _why(error: Exception) -> str:
    match error:
        case Conflict():
            return "Another program polls with this bot's token. I wait until it stops."
        case InvalidToken():
            return "Telegram no longer accepts the bot's token. Run claude-sessions setup."
        case TelegramError():
            return "Telegram cannot be reached."
    return f"An update could not be written down: {error}"


def cause_of(channel: str, update_ids: Sequence[int]) -> str:
    return f"{channel}#{'+'.join(map(str, update_ids))}"


def numbers_in(cause: str) -> list[int]:
    channel, _, numbers = cause.partition("#")
    if not channel.startswith("telegram|"):
        return []
    return [int(number) for number in numbers.split("+") if number.isdigit()]
