"""The outbox: whatever a chat has to show is stored until Telegram has it.

A letter is put under a key, and put again when it should show something else; the newest content
is what counts. Delivery is at least once: only a letter whose answer got lost is sent again, and
then it says that it is a repetition.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
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
from claude_sessions.telegram.chats import Chats
from claude_sessions.telegram.courier import Courier, TooSoon
from claude_sessions.telegram.lane import Lane
from claude_sessions.telegram.letters import Content, Letter
from claude_sessions.telegram.render import plain
from claude_sessions.telegram.topics import Topics

TOKEN = 12
DAY = 86400.0
KEPT_DAYS = 14
OTHERS_DAYS = 30  # what another bot left
UNREACHED_DAYS = 7  # for a chat that cannot be reached
UNREACHED = 200  # letters, likewise
TIDY_SECONDS = 3600.0
UNSTORED = -(2**62)  # letters while the disk is full have negative ids, and leave first, in order

T = TypeVar("T")
logger = structlog.get_logger(__name__)


class Outbox:
    """Open it with `async with`; nothing leaves before `begin`. Leaving delivers, in bounds.

    `trouble` is told, once a kind, that a chat cannot be reached, and why; `gave_up`, how many
    letters it will never get.
    """

    def __init__(
        self,
        courier: Courier,
        *,
        bot: int,
        log: EventLog,
        clock: Clock,
        topics: Topics,
        chats: Chats,
        interval: float = 1.0,
        drafts: bool = False,
        close_seconds: float = 5.0,
        quiet: Callable[[Address], bool] = lambda to: False,
    ) -> None:
        self.bot = bot
        self.trouble: Callable[[int, str], None] = lambda chat, words: None
        self.gave_up: Callable[[int, int], None] = lambda chat, letters: None
        self.budget = Budget()
        self.quiet = quiet  # whether nothing may ring there now
        self._courier = courier
        self._log = log
        self._clock = clock
        self._interval = interval
        self._drafts = drafts
        self._close_seconds = close_seconds
        self.topics = topics
        self._chats = chats
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
        for chat in self._chats.left:
            await self._leave(chat)
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
            try:
                await self._change(self._tidied)
                for lane in list(self._lanes.values()):
                    await self._give_up(lane)
            except SessionsError as error:
                logger.warning("outbox.not_tidied", why=str(error))
            await self._clock.sleep(TIDY_SECONDS)

    def _tidied(self, mail: Mail) -> None:
        now, place = self._now(), mail.place("router") or 0
        mail.tidy(now - KEPT_DAYS * DAY, seq=place, bot=self.bot, others=now - OTHERS_DAYS * DAY)

    async def _give_up(self, lane: Lane) -> None:
        """What is too old, or too much, for a chat that cannot be reached. The log has it all."""
        if lane.unreachable is None:
            return
        waiting = sorted((each for each in lane.letters.values() if each.waits), key=_number)
        old = self._now() - UNREACHED_DAYS * DAY
        gone = [*waiting[:-UNREACHED], *(each for each in waiting[-UNREACHED:] if each.at < old)]
        for letter in gone:
            await self.shown(letter, letter.version)
        if gone:
            lane.given_up += len(gone)
            self.gave_up(lane.chat, lane.given_up)

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
        if content.ring and self.quiet(to):
            content = replace(content, ring=False)
        at = self._now()
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
        if letter.open and not letter.dismissed and letter.id in self._letters:
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
                placing=self.topics,
                there=self._chats.there,
            )
            if self._begun:
                self._start(lane)
        return self._lanes[chat]

    def _start(self, lane: Lane) -> None:
        self._tasks.append(self._group.create_task(lane.run(), name=f"outbox:{lane.chat}"))

    def _stir(self, chat: int) -> None:
        self._lane(chat).stir()

    async def errand(self, chat: int, ask: Callable[[int], Awaitable[None]]) -> None:
        """Something else to ask of a chat, at its pace; raises what becomes of it."""
        there, now = self._chats.there(chat), self._clock.monotonic()
        if (wait := self.budget.wait(there, now, matters=True)) > 0:
            raise TooSoon(wait)
        try:
            with self.budget.spending(there, self._clock.monotonic):
                await ask(there)
        except TooSoon as error:
            self.budget.block(there, self._clock.monotonic(), error.seconds)
            raise

    # --- looking

    def owes(self, chat: int, session: str) -> bool:
        """Whether something of that session has still to be shown there."""
        return any(
            letter.waits and letter.to.chat == chat and letter.session == session
            for letter in self._letters.values()
        )

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
        """Since when the one waits that waits longest; in seconds since 1970."""
        return min((letter.at for letter in self._letters.values() if letter.waits), default=None)

    @property
    def depths(self) -> dict[int, int]:
        """Chat → how many letters wait for it."""
        return {
            chat: sum(letter.waits for letter in lane.letters.values())
            for chat, lane in sorted(self._lanes.items())
        }

    def unreachable(self) -> dict[int, str]:
        return {lane.chat: why for lane in self._lanes.values() if (why := lane.unreachable)}

    def growing(self, to: Address, keys: str) -> list[Letter]:
        """Those whose key begins so, and which will change once more."""
        here = (letter for letter in self._letters.values() if letter.to == to and letter.open)
        return [letter for letter in here if letter.key.startswith(keys)]

    # A row by its key takes less time than the way to another thread and back, and a press waits.

    async def before(self, to: Address, session: str, keys: str, seq: int) -> str | None:
        """The key of what was told last up to there: of those that begin so, and of cards."""
        return self.mail.before(self.bot, str(to), session, keys, seq)

    async def has(self, to: Address, key: str) -> bool:
        return self.mail.has(self.bot, str(to), key)

    async def button(self, token: str) -> StoredButton | None:
        return self.mail.button(token)

    async def letter(self, letter: int) -> StoredLetter | None:
        return self.mail.letter(letter)

    async def letter_at(self, chat: int, message: int) -> StoredLetter | None:
        return self.mail.letter_of(self.bot, self._chats.there(chat), message)

    async def adopt(self, letter: int, chat: int, message: int) -> None:
        """A copy of it that nobody knew of: its answer had been lost. It is kept true too."""
        there = self._chats.there(chat)
        at = self._now()
        await self._change(lambda mail: mail.adopt(self.bot, there, message, letter, at=at))
        stored = await asyncio.to_thread(self.mail.letter, letter)
        if stored is None:
            return
        known = self._letters.get(letter)
        if known is None:
            known = Letter.of(stored)
            self._add(known)
        known.copies, known.at = list(stored.copies), stored.at
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
        chat = self._chats.there(letter.to.chat)
        for message, part in list(letter.unnoted.items()):
            await self._note(letter, partial(_out, self.bot, chat, message, letter.id, part))
            del letter.unnoted[message]

    async def gone(self, letter: Letter, message: int) -> None:
        letter.unnoted.pop(message, None)
        chat = self._chats.there(letter.to.chat)
        await self._note(letter, lambda mail: mail.lost(self.bot, chat, message))

    async def shown(self, letter: Letter, version: int) -> None:
        was, letter.shown = letter.shown, max(letter.shown, version)
        if not letter.waits and not letter.open:
            self._letters.pop(letter.id, None)
            self._lane(letter.to.chat).letters.pop(letter.id, None)
        if was < letter.shown:
            await self._note(letter, lambda mail: mail.shown(letter.id, version))
        if not letter.waits and not letter.open:
            _throw_away(letter.content)

    async def lost_topic(self, chat: int, thread: int) -> None:
        """What it showed went with it; whatever still matters is shown in General."""
        letters = [
            letter
            for letter in self._lane(chat).letters.values()
            if self.topics.thread(letter.to, letter.session) == thread
        ]
        words, at = self.topics.gone(chat, thread), self._now()
        for letter in letters:
            letter.begin_anew(at)
            await self._note(letter, lambda mail: mail.begin_anew(letter.id, at=at))  # noqa: B023
        await self.put(Address(chat), f"topic:{thread}", Content(parts=(plain(words),)))

    def migrated(self, chat: int, to: int) -> None:
        """Its messages stay behind in the old one; whatever still matters is shown in the new."""
        if self._chats.move(chat, to):
            logger.info("outbox.migrated", chat=chat, to=to)
            for letter in self._lane(chat).letters.values():
                letter.begin_anew(self._now())
            self._group.create_task(self._leave(chat), name=f"outbox.leave:{chat}")
            self._stir(chat)

    async def _leave(self, chat: int) -> None:
        try:
            at = self._now()
            await self._change(lambda mail: mail.leave(self.bot, chat, at=at))
        except SessionsError as error:  # no room: the next start does it
            logger.warning("outbox.not_left", chat=chat, why=str(error))

    def _now(self) -> float:
        return self._clock.now().timestamp()

    async def trouble_at(self, chat: int, words: str) -> None:
        self.trouble(chat, words)
        await self._give_up(self._lane(chat))

    async def _note(self, letter: Letter, act: Callable[[Mail], None]) -> None:
        if letter.id > 0:
            await self._change(act)

    async def _change(self, act: Callable[[Mail], T]) -> T:
        return await self._log.change(lambda store: act(store.mail))


def _out(bot: int, chat: int, message: int, letter: int, part: int, mail: Mail) -> None:
    mail.out(bot, chat, message, letter, part)


def _throw_away(content: Content) -> None:
    """The copy of a file that has been delivered."""
    if content.file is not None and content.file.path:
        Path(content.file.path).unlink(missing_ok=True)


def _number(letter: Letter) -> int:
    return letter.id


def _token() -> str:
    return "".join(secrets.choice(ID_ALPHABET) for _ in range(TOKEN))
