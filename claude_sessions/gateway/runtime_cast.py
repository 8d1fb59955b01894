"""The runtime envelope for all who listen: each event is told once, however many there are."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import orjson
import structlog

from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.eventlog import EventLog
from claude_sessions.feed import Feed, Item, OpenBlocks
from claude_sessions.gateway.runtime_events import Telling, Told, millis
from claude_sessions.gateway.visits import Over, Visit
from claude_sessions.history import PAGE
from claude_sessions.storage.sqlite import Store

WAITING_BYTES = 8 * 1024 * 1024  # for one that does not read
REMEMBERED = 1000  # sessions

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """`seq`: with it, all up to there in the log has been told."""

    text: bytes
    seq: int | None = None

    @property
    def placed(self) -> bytes:
        """For those who come back with their position; others get the seed's, to the letter."""
        if self.seq is None:
            return self.text
        return self.text[:-1] + b',"seq":%d}' % self.seq


def frame(event: bytes, seq: int | None = None) -> Frame:
    return Frame(text=b'{"type":"event","event":%b}' % event, seq=seq)


def frames(told: list[Told], item: Item) -> list[Frame]:
    """Only the last of an event's has its place: before that, not all of it has been told."""
    seq = item.seq if isinstance(item, e.Event) else None
    return [
        frame(orjson.dumps(each, default=str), seq if each is told[-1] else None) for each in told
    ]


class Listener:
    """One connection's. `session`: it hears of no other; None: of all."""

    def __init__(self, visit: Visit, session: str | None) -> None:
        self.session = session
        self._visit = visit
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._arrived = asyncio.Event()

    def push(self, frames: Iterable[Frame]) -> None:
        for each in frames:
            self._frames.append(each)
            self._bytes += len(each.text)
        if self._bytes > WAITING_BYTES and len(self._frames) > 1:
            self.cut()
        self._arrived.set()

    def cut(self) -> None:
        self._visit.end(Over.SLOW)

    async def take(self) -> list[Frame]:
        """All that waits."""
        await self._arrived.wait()
        self._arrived.clear()
        taken = list(self._frames)
        self._frames.clear()
        self._bytes = 0
        return taken


class Tellings:
    """One a session. Of one that is not known, what it was told before is read first.

    `begun`: what is known of blocks that are not finished, where the signals have come by.
    """

    def __init__(self, store: Store, clock: Clock, begun: OpenBlocks | None = None) -> None:
        self._store = store
        self._clock = clock
        self._begun = begun or OpenBlocks()
        self._known: OrderedDict[str, Telling] = OrderedDict()

    async def frames(self, item: Item, place: int) -> list[Frame]:
        """`place`: up to where in the log all has been told, for what has no place of its own."""
        if not item.session:
            return []
        before = item.seq - 1 if isinstance(item, e.Event) else place
        first = isinstance(item, e.Event) and item.session_seq == 1
        telling = await self._of(item.session, 0 if first else before)
        return frames(telling.hear(item, self._clock.now()), item)

    def clear(self) -> None:
        self._known.clear()

    async def _of(self, session: str, upto: int) -> Telling:
        telling = self._known.get(session)
        if telling is None:
            telling = await asyncio.to_thread(self._read, session, upto) if upto else Telling()
            for delta in self._begun.deltas(session):
                telling.hear(delta, self._clock.now())
            self._known[session] = telling
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(session)
        return telling

    def _read(self, session: str, upto: int) -> Telling:
        telling, after, now = Telling(), 0, self._clock.now()
        while page := self._store.events(after=after, limit=PAGE, session=session, upto=upto):
            for event in page:
                telling.hear(event, now)
            after = page[-1].seq
        return telling


class Broadcast:
    """Open it with `async with`. Whoever has joined is told all that follows `_place`."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._listeners: set[Listener] = set()
        self._begun = OpenBlocks()
        self._place = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        self._tellings = Tellings(self._log.store, self._clock, self._begun)
        async with self._log.follow(signals=True) as feed:
            self._place = self._log.head
            telling = asyncio.create_task(self._keep_telling(feed), name="gateway.runtime")
            try:
                yield
            finally:
                telling.cancel()
                await asyncio.wait([telling])

    def join(self, listener: Listener) -> None:
        self._listeners.add(listener)

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    async def _keep_telling(self, feed: Feed) -> None:
        """Should it ever fail, nobody waits in vain for what will not come."""
        try:
            await self._tell(feed)
        except Exception:
            log.exception("runtime.stopped")
            for listener in self._listeners:
                listener.cut()

    async def _tell(self, feed: Feed) -> None:
        async for item in feed:
            if self._listeners:
                await self._give(item)
            else:  # whoever comes later has it read for them
                self._tellings.clear()
            # In the same breath: who joins in between hears of it either before or after.
            self._begun.take(item)
            if isinstance(item, e.Event):
                self._place = item.seq

    async def _give(self, item: Item) -> None:
        try:
            told = await self._tellings.frames(item, self._place)
        except Exception:
            log.exception("runtime.not_told", session=item.session)
            return
        for listener in self._listeners:
            if told and listener.session in (None, item.session):
                listener.push(told)

    def received(self, command: bytes) -> None:
        """Everybody hears of a command, also those who hear of one session only."""
        at = millis(self._clock.now())
        echo = frame(b'{"type":"command:received","command":%b,"timestamp":%d}' % (command, at))
        for listener in self._listeners:
            listener.push([echo])

    async def replay(self, listener: Listener, after: int) -> AsyncIterator[Frame]:
        """All after that place; by the end it has joined, and nothing lies in between."""
        tellings = Tellings(self._log.store, self._clock)
        while after < (upto := self._place):
            page = await self._log.events(listener.session, after=after, upto=upto, limit=PAGE)
            for event in page:
                for each in await tellings.frames(event, after):
                    yield each
            after = page[-1].seq if len(page) == PAGE else upto
        self.join(listener)
        place = self._place
        for delta in self._begun.deltas(listener.session):  # who joins in the middle of a block
            for each in await tellings.frames(delta, place):
                yield each
