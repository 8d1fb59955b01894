"""One chat's way out: what matters first, then what only shows progress, at Telegram's pace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import product
from typing import Protocol

import structlog

from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.budget import Budget
from claude_sessions.telegram.courier import (
    Courier,
    Lost,
    MessageGone,
    Moved,
    Refused,
    Revoked,
    TooSoon,
    TopicClosed,
    TopicGone,
    Undelivered,
    Unreachable,
    Unreached,
)
from claude_sessions.telegram.letters import Content, Face, Letter, marked
from claude_sessions.telegram.render import plain

TICK = 15.0  # seconds; how often a turn that says nothing shows that time passes
TYPING = 4.5
REVOKED = 60.0
MOVING = 1.0
UNREACHABLE = 3600.0
SLOWEST = 60.0
IN_ORDER = 4  # failures of one letter for which all others wait
IN_ORDER_SLOWEST = 15.0
NO_TYPING = 60.0  # seconds, where Telegram did not like it

logger = structlog.get_logger(__name__)


class Keeper(Protocol):
    """What is remembered of letters; whatever is waited for is durable then."""

    async def trying(self, letter: Letter, part: int) -> None: ...
    async def not_tried(self, letter: Letter, part: int) -> None: ...
    async def out(self, letter: Letter) -> None: ...
    async def gone(self, letter: Letter, message: int) -> None: ...
    async def shown(self, letter: Letter, version: int) -> None: ...
    async def lost_topic(self, chat: int, thread: int) -> None: ...
    def migrated(self, chat: int, to: int) -> None: ...
    async def trouble_at(self, chat: int, words: str) -> None: ...


class Placing(Protocol):
    """Where in its chat a letter goes. Asked anew for each message; none of these waits."""

    def thread(self, to: Address, session: str | None) -> int | None: ...
    def work(self, to: Address, session: str | None) -> Callable[[], Awaitable[None]] | None:
        """What has to be asked of Telegram first; it is one request."""

    def shut(self, chat: int, thread: int) -> None: ...


class Lane:
    """`run` never ends by itself: whatever happens to one letter, the next one gets its turn."""

    def __init__(
        self,
        chat: int,
        *,
        courier: Courier,
        keeper: Keeper,
        budget: Budget,
        clock: Clock,
        interval: float,
        drafts: bool,
        placing: Placing,
        there: Callable[[int], int],
    ) -> None:
        self.chat = chat
        self.letters: dict[int, Letter] = {}
        self.typing: dict[str, Address] = {}  # session → where it works in silence
        self.unreachable: str | None = None
        self._courier = courier
        self._keeper = keeper
        self._budget = budget
        self._clock = clock
        self._interval = interval
        self._drafts = drafts and chat > 0
        self._placing = placing
        self._there = there
        self._changed = asyncio.Event()
        self._retry_at = 0.0  # of the whole chat
        self._typed_at = 0.0
        self._touched = 0  # the message that was last edited or deleted

    def stir(self) -> None:
        self._changed.set()

    def revive(self) -> None:
        """It can be reached again: nothing waits but for Telegram's own pace."""
        self.unreachable, self._retry_at = None, 0.0
        for letter in self.letters.values():
            letter.retry_at = 0.0
        self.stir()

    @property
    def there(self) -> int:
        """The chat as Telegram knows it now."""
        return self._there(self.chat)

    @property
    def idle(self) -> bool:
        return not any(letter.waits for letter in self.letters.values())

    # --- the one task

    async def run(self) -> None:
        while True:
            self._changed.clear()
            try:
                wait = await self._next()
            except SessionsError as error:  # nothing can be stored: what is shown is not noted
                logger.warning("outbox.not_noted", chat=self.chat, why=str(error))
                wait = 1.0
            except Exception:
                logger.exception("outbox.failed", chat=self.chat)
                wait = 5.0
            if wait is None or wait > 0:
                await self._rest(wait)

    async def _rest(self, seconds: float | None) -> None:
        waits: list[asyncio.Future[object]] = [asyncio.ensure_future(self._changed.wait())]
        if seconds is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def _next(self) -> float | None:
        """Does the next thing, or says how long there is nothing to do; None: until something is
        new."""
        now = self._clock.monotonic()
        if self._retry_at > now:
            return self._retry_at - now
        letter, due = self._choose(now)
        if letter is None or due > now:
            if self._typing_due(now):
                return await self._type(now)
            return None if letter is None and not self.typing else self._until(due, now)
        wait = self._budget.wait(self.there, now, matters=letter.waits)
        if wait > 0:
            return wait
        self._budget.spend(self.there, now)  # before anybody else looks whether there is any left
        await self._serve(letter)
        return 0.0

    def _until(self, due: float, now: float) -> float:
        typing = self._typed_at + TYPING if self.typing and self.chat > 0 else float("inf")
        return max(min(due, typing, now + SLOWEST) - now, 0.01)

    def _choose(self, now: float) -> tuple[Letter | None, float]:
        """What matters in its order; else whichever turn was shown longest ago; and when."""
        urgent = [letter for letter in self.letters.values() if letter.waits]
        ready = [letter for letter in urgent if letter.retry_at <= now]
        if ready:
            return min(ready, key=lambda letter: letter.id), now
        growing = [letter for letter in self.letters.values() if letter.live and not letter.waits]
        times = [(max(self._due(each), each.retry_at), each.id, each) for each in growing]
        times += [(each.retry_at, each.id, each) for each in urgent]
        if not times:
            return None, float("inf")
        due, _, letter = min(times, key=lambda each: each[:2])
        return letter, due

    def _due(self, letter: Letter) -> float:
        return letter.edited_at + (self._interval if letter.dirty else max(TICK, self._interval))

    def _typing_due(self, now: float) -> bool:
        return bool(self.typing) and self.chat > 0 and now >= self._typed_at + TYPING

    async def _type(self, now: float) -> float:
        wait = self._budget.wait(self.there, now, matters=False)
        if wait > 0:
            return wait
        self._typed_at = now
        self._budget.spend(self.there, now)
        try:
            await self._courier.typing(next(iter(self.typing.values())))
        except TooSoon as error:
            self._budget.block(self.there, self._clock.monotonic(), error.seconds)
        except Undelivered as error:
            self._typed_at = now + NO_TYPING
            logger.debug("outbox.typing_failed", chat=self.chat, why=str(error))
        return 0.0

    # --- one letter

    async def _serve(self, letter: Letter) -> None:
        version, content = letter.version, letter.wanted
        letter.dirty = False
        try:
            await self._keeper.out(letter)
            if await self._step(letter, content):
                letter.failures = 0
                letter.edited_at = self._clock.monotonic()
                await self._keeper.shown(letter, version)
        except Undelivered as error:
            await self._failed(letter, error)
        except SessionsError:
            raise
        except Exception:
            # Whatever is wrong with this one, the others get their turn.
            logger.exception("outbox.failed", chat=self.chat, letter=letter.key)
            letter.failures += 1
            letter.retry_at = self._clock.monotonic() + _pause(letter.failures)

    async def _step(self, letter: Letter, content: Content) -> bool:
        """One request at the most; True when the chat shows all of it."""
        if letter.live is not None and self._drafts:
            return await self._draft(letter, content)
        faces = letter.looks(content)
        for part, face in enumerate(faces):
            if part >= len(letter.messages):
                if not await self._has_a_place(letter):
                    return False
                await self._send(letter, part, face, content)
                return part + 1 == len(faces) and not letter.copies
            message = letter.messages[part]
            if letter.faces.get(message) != face:
                await self._edit(letter, message, face)
                return part + 1 == len(faces) == len(letter.messages) and not letter.copies
        return await self._tidy(letter, faces)

    async def _tidy(self, letter: Letter, faces: list[Face]) -> bool:
        if len(letter.messages) > len(faces):
            message = self._touched = letter.messages[-1]
            await self._courier.delete(self.there, message)
            letter.messages.pop()
            await self._keeper.gone(letter, message)
            return False
        pressable = [face for face in faces if face.file is None][-1:]
        for copy, face in product(letter.copies, pressable):
            if letter.faces.get(copy) != face:
                await self._edit(letter, copy, face)
                return False
        return True

    async def _draft(self, letter: Letter, content: Content) -> bool:
        try:
            await self._courier.draft(letter.to, letter.id, content.parts[-1])
        except (Refused, Revoked) as error:  # an older server calls what it does not know revoked
            logger.warning("outbox.no_drafts", chat=self.chat, why=str(error))
            self._drafts = False
        return self._drafts

    async def _has_a_place(self, letter: Letter) -> bool:
        """False: its topic had to be opened first, and that was a request."""
        work = self._placing.work(letter.to, letter.session)
        if work is None:
            return True
        await work()
        return False

    async def _send(self, letter: Letter, part: int, face: Face, content: Content) -> None:
        repeated = letter.maybe_there
        if not repeated:
            await self._keeper.trying(letter, part)
        to = Address(self.there, self._placing.thread(letter.to, letter.session))
        try:
            message = await self._courier.send(
                to,
                marked(face) if repeated else face,
                ring=content.ring,
                reply_to=content.reply_to if part == 0 else None,
            )
        except Undelivered as error:
            if not repeated and not isinstance(error, Lost):
                await self._keeper.not_tried(letter, part)
            raise
        if to.chat != self.there:
            raise Moved(self.there)  # just then: it is sent anew where people are now
        letter.messages.append(message)
        letter.faces[message] = face
        letter.unnoted[message] = part
        letter.dirty |= content.late
        await self._keeper.out(letter)

    async def _edit(self, letter: Letter, message: int, face: Face) -> None:
        self._touched = message
        await self._courier.edit(self.there, message, face)
        letter.faces[message] = face

    # --- what went wrong

    async def _failed(self, letter: Letter, error: Undelivered) -> None:
        letter.dirty = True
        now = self._clock.monotonic()
        match error:
            case TooSoon(seconds=seconds):
                self._budget.block(self.there, now, seconds)
            case Lost() | Unreached():
                self._later(letter, error, now)
            case MessageGone():
                await self._forget_message(letter)
            case TopicGone() | TopicClosed():
                await self._elsewhere(letter, error, now)
            case Refused():
                await self._refused(letter, error)
            case Moved() | Revoked() | Unreachable():
                await self._closed(letter, error, now)
        why = f"{type(error).__name__}: {error}"
        say = logger.info if letter.failures <= 1 else logger.debug
        say("outbox.undelivered", chat=self.chat, letter=letter.key, why=why)

    def _later(self, letter: Letter, error: Undelivered, now: float) -> None:
        """Nothing overtakes it, unless it may be the letter itself that does not get through."""
        letter.failures += 1
        wait = _pause(letter.failures)
        if isinstance(error, Unreached) or letter.failures <= IN_ORDER:
            self._retry_at = now + min(wait, IN_ORDER_SLOWEST)
        else:
            letter.retry_at = now + wait

    async def _elsewhere(self, letter: Letter, error: Undelivered, now: float) -> None:
        thread = self._placing.thread(letter.to, letter.session)
        if thread is None:  # General itself is closed; its topics need not be
            letter.retry_at = now + SLOWEST
            letter.failures += 1
            if letter.failures == 1:
                await self._keeper.trouble_at(self.chat, str(error))
        elif isinstance(error, TopicClosed):
            self._placing.shut(self.chat, thread)
        else:
            await self._keeper.lost_topic(self.chat, thread)

    async def _forget_message(self, letter: Letter) -> None:
        """Deleted by somebody: a turn that runs is not shown again, what matters is sent anew."""
        gone = self._touched
        letter.messages = [message for message in letter.messages if message != gone]
        letter.copies = [message for message in letter.copies if message != gone]
        letter.live, letter.dismissed = None, True
        await self._keeper.not_tried(letter, len(letter.messages))
        await self._keeper.gone(letter, gone)

    async def _refused(self, letter: Letter, error: Refused) -> None:
        """First it says the same less beautifully; then, that it cannot."""
        letter.refusals += 1
        if letter.refusals == 1:
            return
        logger.error("outbox.refused", chat=self.chat, letter=letter.key, why=str(error))
        if letter.refusals == 2:
            letter.content = Content(parts=(plain(_instead_of(letter)),))
            letter.live = None
        else:
            await self._keeper.shown(letter, letter.version)

    async def _closed(self, letter: Letter, error: Undelivered, now: float) -> None:
        match error:
            case Moved(chat=chat):
                self._retry_at = now + MOVING if chat == self.there else 0.0
                self._keeper.migrated(self.chat, chat)
            case Revoked():  # whoever polls says so
                self._retry_at = now + REVOKED
            case _:
                known, self.unreachable = self.unreachable, str(error)
                self._retry_at = now + UNREACHABLE
                if known is None:
                    await self._keeper.trouble_at(self.chat, str(error))


def _pause(failures: int) -> float:
    return min(2.0 ** min(failures - 1, 10), SLOWEST)


def _instead_of(letter: Letter) -> str:
    if letter.content.file is not None and not letter.content.parts:
        return f"{letter.content.file.name} could not be sent. Ask for it again."
    hint = f" /output {letter.session} has it." if letter.session else ""
    return f"This could not be shown here.{hint}"
