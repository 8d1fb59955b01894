"""One chat's way out: what matters first, then what only shows progress, at Telegram's pace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
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
from claude_sessions.telegram.lesser import less_of, without_file
from claude_sessions.telegram.letters import Content, Face, File, Letter, marked
from claude_sessions.telegram.steps import Delete, Edit, Send, Step, steps

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
        self.given_up = 0  # letters, since the daemon began
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
        self._doing: Step | None = None
        self._said: set[tuple[int, type[Undelivered]]] = set()  # (letter or 0, what), until over

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
        with self._budget.spending(self.there, self._clock.monotonic):
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
        try:
            with self._budget.spending(self.there, self._clock.monotonic):
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
                self._said -= {said for said in self._said if said[0] in (0, letter.id)}
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
        left = steps(letter, letter.looks(content))
        self._doing = left[0] if left else None
        match self._doing:
            case Send(part=part, face=face):
                if not await self._has_a_place(letter):
                    return False
                await self._send(letter, part, face, content)
            case Edit(message=message, face=face):
                await self._courier.edit(self.there, message, face)
                letter.faces[message] = face
            case Delete(message=message):
                await self._courier.delete(self.there, message)
                await self._drop(letter, message)
        return len(left) <= 1

    async def _drop(self, letter: Letter, message: int) -> None:
        await self._without(letter, message)
        await self._keeper.gone(letter, message)

    async def _without(self, letter: Letter, message: int) -> None:
        """The next is no repetition for that, unless it may have been there already."""
        unsure = letter.maybe_there
        letter.drop(message)
        if not unsure:
            await self._keeper.not_tried(letter, letter.out)

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
            await self._keeper.trying(letter, letter.out)
        to = Address(self.there, self._placing.thread(letter.to, letter.session))
        try:
            message = await self._courier.send(
                to,
                marked(face) if repeated else face,
                ring=content.ring,
                reply_to=None if letter.out else content.reply_to,
            )
        except Undelivered as error:
            if not repeated and not isinstance(error, Lost):
                await self._keeper.not_tried(letter, letter.out)
            raise
        if to.chat != self.there:
            raise Moved(self.there)  # just then: it is sent anew where people are now
        if face.file is not None:
            letter.document = message
        else:
            letter.messages.append(message)
        letter.faces[message] = face
        letter.unnoted[message] = part
        letter.dirty |= content.late
        await self._keeper.out(letter)

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
        self._say(letter, error)

    def _say(self, letter: Letter, error: Undelivered) -> None:
        """Once a trouble: until something gets through, it is the same one."""
        of_letter = isinstance(error, Lost | Refused | MessageGone)
        trouble = (letter.id if of_letter else 0, type(error))
        say = logger.debug if trouble in self._said else logger.info
        self._said.add(trouble)
        why = f"{type(error).__name__}: {error}"
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
        assert isinstance(self._doing, Edit | Delete)
        letter.live, letter.dismissed = None, True
        await self._drop(letter, self._doing.message)

    async def _refused(self, letter: Letter, error: Refused) -> None:
        """First it says the same less beautifully; then only what to do; then, that it cannot."""
        letter.refusals += 1
        match self._doing:
            case Delete(message=message):  # then at least nothing is left to press
                with suppress(Undelivered):
                    await self._courier.strip(self.there, message)
                letter.refusals -= 1
                await self._drop(letter, message)
                return
            case Send(face=Face(file=File())) if letter.content.parts:
                letter.refusals, letter.content = 0, without_file(letter.content)
            case _ if letter.refusals == 1:
                return
            case Edit(message=message):  # it is said anew, and that one goes
                letter.refusals, letter.live, letter.dismissed = 0, None, True
                await self._without(letter, message)
                letter.doomed.append(message)
            case _ if (less := less_of(letter)) is not None:
                letter.content, letter.live = less, None
            case _:
                await self._keeper.shown(letter, letter.version)
        logger.error("outbox.refused", chat=self.chat, letter=letter.key, why=str(error))

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
