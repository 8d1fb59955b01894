"""The inbox: an update is written down before Telegram is told that we have it.

The offset is sent only to acknowledge. Once a poll has come back empty there is nothing left to
acknowledge, so none is sent: update ids may begin anew, and an old offset would make us deaf.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence

import orjson
import structlog
from telegram import Update
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.mail import Mail, StoredUpdate
from claude_sessions.telegram.bot import PollingBot, Raw
from claude_sessions.telegram.lag import Lag

POLL_SECONDS = 25
MOST_AT_ONCE = 100  # updates, in the answer to one poll
SLOWEST = 30.0
CALM_SECONDS = 90.0  # two that poll take turns: only after so long has the other one stopped
WANTED = ("message", "edited_message", "callback_query", "my_chat_member")
FORWARDED = {"forward_origin", "forward_date"}
PLAIN = ("message_id", "date", "from", "chat", "text", "caption")

logger = structlog.get_logger(__name__)


class Inbox:
    """`handle` gets each update once, in the order of its arrival, and does not wait.

    `trouble` is told when something stands in the way, once, and None when that is over.
    """

    def __init__(
        self,
        bot: PollingBot,
        *,
        bot_id: int,
        log: EventLog,
        clock: Clock,
        handle: Callable[[Update], None],
        trouble: Callable[[str | None], None],
    ) -> None:
        self.polled_at: float | None = None  # monotonic
        self.trouble: str | None = None
        self.lag = Lag(clock)
        self._bot = bot
        self._bot_id = bot_id
        self._log = log
        self._clock = clock
        self._handle = handle
        self._tell = trouble
        self._offset: int | None = None
        self._conflict_at: float | None = None

    @property
    def mail(self) -> Mail:
        return self._log.store.mail

    async def run(self) -> None:
        pause = 1.0
        while True:
            try:
                await self._poll()
            except (TelegramError, SessionsError) as error:
                self._hindered(error)
                await self._clock.sleep(max(pause, _asked_for(error)))
                pause = min(pause * 2, SLOWEST)
            else:
                self._free()
                pause = 1.0

    async def _poll(self) -> None:
        seconds = 0 if self.lag.may_be_behind() else POLL_SECONDS  # first all that waits
        told = await self._bot.poll(self._offset, seconds=seconds, wanted=WANTED)
        self.polled_at = self._clock.monotonic()
        self.lag.polled(self._bot.answered_at, everything=len(told) < MOST_AT_ONCE)
        if not told:
            self._offset = None
            return
        updates = {update["update_id"]: update for update in told}
        fresh = await self._write_down(updates.values())
        self._offset = max(updates) + 1
        unreadable = [
            number for number in updates if number in fresh and not self._give(updates[number])
        ]
        if unreadable:
            await self.mark(unreadable, "done")

    def _give(self, raw: Raw) -> bool:
        """Whether it could be read."""
        if (update := self._read(raw)) is not None:
            self._handle(update)
        return update is not None

    async def _write_down(self, updates: Iterable[Raw]) -> set[int]:
        raw = [(update["update_id"], json.dumps(update)) for update in updates]
        at, head = self._clock.now().timestamp(), self._log.head
        return await self._log.change(
            lambda store: store.mail.take_in(self._bot_id, raw, at=at, head=head, same=_same)
        )

    async def unfinished(self) -> list[tuple[StoredUpdate, str | None]]:
        """What the last daemon left, in order; with the cause of what it led to all the same."""
        left = await asyncio.to_thread(self.mail.unfinished, self._bot_id)
        if not left:
            return []
        causes = await asyncio.to_thread(self.mail.causes, min(update.head for update in left))
        led = {
            number: (cause, seq) for cause, seq in causes.items() for number in numbers_in(cause)
        }
        return [(update, _led_to(update, *led.get(update.update_id, (None, 0)))) for update in left]

    def read(self, stored: StoredUpdate) -> Update | None:
        return self._read(orjson.loads(stored.raw))

    def _read(self, raw: Raw) -> Update | None:
        """What the library cannot read is read without its frills; None: not even so."""
        for form in (raw, _plain(raw)):
            try:
                return Update.de_json(form, self._bot)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next ones are heard
                kinds = sorted(raw.keys() - {"update_id"})
                logger.warning(
                    "inbox.unreadable", update=raw["update_id"], kinds=kinds, why=repr(error)
                )
        return None

    async def mark(self, update_ids: Sequence[int], state: str) -> None:
        bot = self._bot_id
        await self._log.change(lambda store: store.mail.mark(bot, update_ids, state))

    def _hindered(self, error: Exception) -> None:
        if isinstance(error, Conflict):
            self._conflict_at = self._clock.monotonic()
        self._report(_why(error))

    def _free(self) -> None:
        at = self._conflict_at
        if at is None or self._clock.monotonic() - at > CALM_SECONDS:
            self._conflict_at = None
            self._report(None)

    def _report(self, why: str | None) -> None:
        if why != self.trouble:
            self.trouble = why
            if why is not None:
                logger.warning("inbox.hindered", why=why)
            self._tell(why)


def _led_to(update: StoredUpdate, cause: str | None, seq: int) -> str | None:
    """An event from before it belongs to another one that had its number."""
    return cause if seq > update.head else None


def _plain(raw: Raw) -> Raw:
    """A message's words, and whose they are."""
    message = raw.get("message")
    if not isinstance(message, dict):
        return raw
    kept = {key: message[key] for key in PLAIN if key in message}
    if FORWARDED & message.keys():  # whoever it was: not the words of who sent it here
        kept["forward_origin"] = {"type": "hidden_user", "sender_user_name": "", "date": 0}
    return {"update_id": raw["update_id"], "message": kept}


def _same(one: str, other: str) -> bool:
    """Whether it was delivered twice; else its number has been given anew."""
    return _identity(orjson.loads(one)) == _identity(orjson.loads(other))


def _identity(update: Raw) -> list[object]:
    """What does not change however often it is told: not names, nor the ids of files."""
    found: list[object] = []
    for kind in sorted(update.keys() - {"update_id"}):
        what = update[kind] if isinstance(update[kind], dict) else {}
        chat = what["chat"] if isinstance(what.get("chat"), dict) else {}
        marks = ("message_id", "id", "date", "edit_date")
        found += [kind, chat.get("id"), *(what.get(mark) for mark in marks)]
    return found


def _asked_for(error: Exception) -> float:
    match error:
        case RetryAfter(retry_after=seconds):
            return float(seconds if isinstance(seconds, int) else seconds.total_seconds())
        case InvalidToken():
            return SLOWEST
    return 0.0


def _why(error: Exception) -> str:
    match error:
        case Conflict() if "webhook" in str(error):
            return (
                "A webhook is set for this bot: its messages go there. Remove it (deleteWebhook)."
            )
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
