"""The outbox: whatever a chat has to show is stored until Telegram has it.

A letter is put under a key, and put again when it should show something else; the newest content
is what counts. Delivery is at least once: only a letter whose answer got lost is sent again, and
then it says that it is a repetition.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

import structlog

from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.model import ID_ALPHABET
from claude_sessions.storage.mail import Mail, NewButton, StoredButton, StoredLetter
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.budget import Budget
from claude_sessions.telegram.courier import Courier
from claude_sessions.telegram.lane import Lane
from claude_sessions.telegram.letters import Content, Letter

TOKEN = 12
KEPT_DAYS = 14
TIDY_SECONDS = 3600.0
UNSTORED = -(2**62)  # letters while the disk is full have negative ids, and leave first, in order

T = TypeVar("T")
logger = structlog.get_logger(__name__)


class Outbox:
    """Open it with `async with`; nothing leaves before `begin`. Leaving delivers, in bounds.

    `trouble` is told, once a kind, that a chat cannot be reached, and why.
    """

    def __init__(
        self,
        courier: Courier,
        *,
        bot: int,
        log: EventLog,
        clock: Clock,
        interval: float = 1.0,
        drafts: bool = False,
        close_seconds: float = 5.0,
        moved: Callable[[int], int] = lambda chat: chat,
    ) -> None:
        self.bot = bot
        self.trouble: Callable[[int, str], None] = lambda chat, words: None
        self.budget = Budget()
        self._courier = courier
        self._log = log
        self._clock = clock
        self._interval = interval
        self._drafts = drafts
        self._close_seconds = close_seconds
        self._moved = moved
        self._lanes: dict[int, Lane] = {}
        self._letters: dict[int, Letter] = {}
        self._begun = False
        self._unstored = UNSTORED

    @property
    def mail(self) -> Mail:
        return self._log.store.mail

    async def __aenter__(self) -> Self:
        self._group = await asyncio.TaskGroup().__aenter__()
        self._tasks: list[asyncio.Task[None]] = []
        with suppress(SessionsError):  # no room: it is not urgent
            await self._change(lambda mail: mail.retire(self.bot))
        for stored in await asyncio.to_thread(self.mail.waiting, self.bot):
            self._take_up(stored)
        self._tasks.append(self._group.create_task(self._tidy(), name="outbox.tidy"))
        return self

    def _take_up(self, stored: StoredLetter) -> None:
        try:
            self._add(Letter.of(stored))
        except (TypeError, ValueError, KeyError) as error:  # of another version of us
            logger.error("outbox.unreadable", letter=stored.key, why=repr(error))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._begun and kind is None:
                await self._drain()
        finally:
            for task in self._tasks:
                task.cancel()
            await self._group.__aexit__(kind, error, trace)

    async def _drain(self) -> None:
        end = self._clock.monotonic() + self._close_seconds
        while self._clock.monotonic() < end and any(self._waiting()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # any lane may be the last to finish
        if left := sum(1 for _ in self._waiting()):
            logger.info("outbox.kept", letters=left)

    def begin(self) -> None:
        """Letters may leave. Whoever begins again begins nothing twice."""
        if not self._begun:
            self._begun = True
            for lane in self._lanes.values():
                self._start(lane)

    async def _tidy(self) -> None:
        while True:
            before = self._clock.now().timestamp() - KEPT_DAYS * 86400
            place = self.mail.place("router") or 0
            try:
                await self._log.change(lambda store: store.mail.tidy(before, seq=place))  # noqa: B023
            except SessionsError as error:
                logger.warning("outbox.not_tidied", why=str(error))
            await self._clock.sleep(TIDY_SECONDS)

    # --- in

    async def put(
        self,
        to: Address,
        key: str,
        content: Content,
        *,
        seq: int = 0,
        session: str | None = None,
        open: bool = False,
        done: Collection[int] = (),
    ) -> Letter:
        """Returns when it is stored; `done`: the updates that it answers are, with it."""
        buttons = [
            NewButton(token=_token(), label=a.label, line=a.line, needs_text=a.needs_text)
            for a in content.actions
        ]
        at = self._clock.now().timestamp()
        try:
            stored = await self._log.change(
                lambda store: store.mail.put(
                    self.bot,
                    str(to),
                    key,
                    content.dump(),
                    buttons,
                    seq=seq,
                    session=session,
                    open=open,
                    at=at,
                    done=done,
                )
            )
        except SessionsError as error:
            logger.error("outbox.not_stored", chat=to.chat, letter=key, why=str(error))
            stored = self._unstorable(to, key, content, at)
        return self._have(stored)

    def _unstorable(self, to: Address, key: str, content: Content, at: float) -> StoredLetter:
        """People are told all the same, that the disk is full above all; it can press nothing."""
        self._unstored += 1
        bare = Content(parts=content.parts, file=content.file, ring=content.ring)
        return StoredLetter(
            id=self._unstored,
            chat=str(to),
            key=key,
            seq=0,
            session=None,
            content=bare.dump(),
            version=1,
            shown=0,
            tried=0,
            open=False,
            at=at,
        )

    def _have(self, stored: StoredLetter) -> Letter:
        letter = self._letters.get(stored.id)
        if letter is None:
            letter = Letter.of(stored)
            if letter.waits or letter.open:
                self._add(letter)
        else:
            letter.update(stored)
            if not letter.open:
                letter.live = None
        self._stir(letter.to.chat)
        return letter

    def _add(self, letter: Letter) -> None:
        self._letters[letter.id] = letter
        self._lane(letter.to.chat).letters[letter.id] = letter

    def grow(self, letter: Letter, live: Callable[[], Content]) -> None:
        """What it shows from now on, until it is put again; asked for when its turn comes.

        What is finished grows no more.
        """
        if letter.open and letter.id in self._letters:
            letter.live, letter.dirty = live, True
            self._stir(letter.to.chat)

    def typing(self, to: Address, session: str) -> None:
        self._lane(to.chat).typing[session] = to
        self._stir(to.chat)

    def still(self, to: Address, session: str) -> None:
        self._lane(to.chat).typing.pop(session, None)

    def heard_from(self, chat: int) -> None:
        if chat in self._lanes:
            self._lanes[chat].revive()

    def back_online(self) -> None:
        """Telegram answers again: what waits for that need wait no longer."""
        for lane in self._lanes.values():
            if lane.unreachable is None:
                lane.revive()

    def _lane(self, chat: int) -> Lane:
        if chat not in self._lanes:
            self._lanes[chat] = lane = Lane(
                chat,
                courier=self._courier,
                keeper=self,
                budget=self.budget,
                clock=self._clock,
                interval=self._interval,
                drafts=self._drafts,
                moved=self._moved,
            )
            if self._begun:
                self._start(lane)
        return self._lanes[chat]

    def _start(self, lane: Lane) -> None:
        self._tasks.append(self._group.create_task(lane.run(), name=f"outbox:{lane.chat}"))

    def _stir(self, chat: int) -> None:
        self._lane(chat).stir()

    # --- looking

    def _waiting(self) -> Iterator[Letter]:
        unreachable = {lane.chat for lane in self._lanes.values() if lane.unreachable}
        return (
            each
            for each in self._letters.values()
            if each.waits and each.to.chat not in unreachable
        )

    @property
    def depth(self) -> int:
        return sum(letter.waits for letter in self._letters.values())

    @property
    def oldest(self) -> float | None:
        """When the letter that waits longest was written; in seconds since 1970."""
        return min((letter.at for letter in self._letters.values() if letter.waits), default=None)

    @property
    def chats(self) -> list[int]:
        return sorted(self._lanes)

    def unreachable(self) -> dict[int, str]:
        return {lane.chat: why for lane in self._lanes.values() if (why := lane.unreachable)}

    def growing(self, to: Address, keys: str) -> list[Letter]:
        """Those whose key begins so, and which will change once more."""
        here = (letter for letter in self._letters.values() if letter.to == to and letter.open)
        return [letter for letter in here if letter.key.startswith(keys)]

    async def before(self, to: Address, session: str, keys: str, seq: int) -> str | None:
        """The key of what was told last up to there: of those that begin so, and of cards."""
        return await asyncio.to_thread(self.mail.before, self.bot, str(to), session, keys, seq)

    async def has(self, to: Address, key: str) -> bool:
        return await asyncio.to_thread(self.mail.has, self.bot, str(to), key)

    async def button(self, token: str) -> StoredButton | None:
        return await asyncio.to_thread(self.mail.button, token)

    async def letter_at(self, chat: int, message: int) -> StoredLetter | None:
        return await asyncio.to_thread(self.mail.letter_of, self.bot, chat, message)

    async def adopt(self, letter: int, chat: int, message: int) -> None:
        """A copy of it that nobody knew of: its answer had been lost. It is kept true too."""
        await self._change(lambda mail: mail.adopt(self.bot, chat, message, letter))
        stored = await asyncio.to_thread(self.mail.letter, letter)
        if stored is None:
            return
        known = self._letters.get(letter)
        if known is None:
            known = Letter.of(stored)
            self._add(known)
        known.copies = list(stored.copies)
        known.shown = min(known.shown, known.version - 1)
        self._stir(known.to.chat)

    # --- what a lane reports

    async def trying(self, letter: Letter, part: int) -> None:
        await self._note(letter, lambda mail: mail.try_(letter.id, part))
        letter.tried = part + 1

    async def not_tried(self, letter: Letter, part: int) -> None:
        """Should that find no room, it says after a crash that it is a repetition: no harm."""
        letter.tried = part
        with suppress(SessionsError):
            await self._note(letter, lambda mail: mail.untry(letter.id, part))

    async def out(self, letter: Letter) -> None:
        """Whatever of it is out; what finds no room is stored before it is next looked at."""
        chat = letter.to.chat
        for message, part in list(letter.unnoted.items()):
            await self._note(letter, partial(_out, self.bot, chat, message, letter.id, part))
            del letter.unnoted[message]

    async def gone(self, letter: Letter, message: int) -> None:
        letter.unnoted.pop(message, None)
        await self._note(letter, lambda mail: mail.lost(self.bot, letter.to.chat, message))

    async def shown(self, letter: Letter, version: int) -> None:
        was, letter.shown = letter.shown, max(letter.shown, version)
        if not letter.waits and not letter.open:
            self._letters.pop(letter.id, None)
            self._lane(letter.to.chat).letters.pop(letter.id, None)
        if was < letter.shown:
            await self._note(letter, lambda mail: mail.shown(letter.id, version))

    async def moved(self, letter: Letter, to: Address) -> None:
        if letter.to == to:  # not in the topic, nor beside it
            letter.retry_at = self._clock.monotonic() + 60
            return
        self.trouble(letter.to.chat, f"topic:{letter.to.thread}")
        letter.to = to
        await self._note(letter, lambda mail: mail.move(letter.id, str(to)))

    async def trouble_at(self, chat: int, words: str) -> None:
        self.trouble(chat, words)

    async def _note(self, letter: Letter, act: Callable[[Mail], None]) -> None:
        if letter.id > 0:
            await self._change(act)

    async def _change(self, act: Callable[[Mail], T]) -> T:
        return await self._log.change(lambda store: act(store.mail))


def _out(bot: int, chat: int, message: int, letter: int, part: int, mail: Mail) -> None:
    mail.out(bot, chat, message, letter, part)


def _token() -> str:
    return "".join(secrets.choice(ID_ALPHABET) for _ in range(TOKEN))
