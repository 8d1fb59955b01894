"""The log: what happened, in order, durable before anybody acts on it.

All state here lives on the loop; only the store's writing and paging run in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import structlog

from claude_sessions.errors import SessionsError, StorageFull
from claude_sessions.events import Draft, Event, Signal, StorageTrouble
from claude_sessions.feed import Delta, Feed, OpenBlocks
from claude_sessions.history import PAGE, History
from claude_sessions.storage.rows import to_facts
from claude_sessions.storage.sqlite import Store
from claude_sessions.storage.writer import Chore, Report, Request, Writer

logger = structlog.get_logger(__name__)

T = TypeVar("T")


def utc_now() -> datetime:
    return datetime.now(UTC)


class EventLog(History):
    """Open it with `async with`. `append`, `signal`, `follow` and `observe` belong to the loop.

    `failed` is set when the log, or somebody who must see all of it, cannot go on (a bug, a broken
    file); `failure` says why. The daemon must stop then.
    """

    def __init__(
        self,
        path: Path,
        *,
        runner: str,
        clock: Callable[[], datetime] = utc_now,
        hold_bytes: int = 32 * 1024 * 1024,
        retry_seconds: float = 5.0,
        close_seconds: float = 15.0,
        feed_bound: int = 10_000,
        max_pages: int | None = None,
    ) -> None:
        self._path = path
        self._runner = runner
        self._clock = clock
        self._hold_bytes = hold_bytes
        self._retry_seconds = retry_seconds
        self._close_seconds = close_seconds
        self._feed_bound = feed_bound
        self._max_pages = max_pages
        self._observers: list[Callable[[Event], None]] = []
        self._feeds: dict[str | None, list[Feed]] = {}
        self._open = OpenBlocks()
        self._queued: list[Request] = []  # in this turn of the loop
        self._unwritten: set[Request] = set()
        self._chores: set[Chore] = set()
        self._held_bytes = 0  # of those, in trouble
        self._closed = False  # to new events
        self._finished = False  # nothing more will come
        self._head = 0
        self.trouble: str | None = None  # why nothing new can be stored at present
        self.failure: BaseException | None = None
        self.failed = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self.store = Store(self._path, runner=self._runner, max_pages=self._max_pages)
        self._head = self.store.head()
        self._ended = self._loop.create_future()
        self._writer = Writer(self.store, report=self._hear, retry_seconds=self._retry_seconds)
        self._writer.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Bounded: what still has no room after one more try is named and given up."""
        self._closed = True
        self._flush()
        self._writer.stop()
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._ended), self._close_seconds)
        finally:
            self._give_up()
            self._finished = True
            for feed in self._all_feeds():
                feed.finish()
            if self._ended.done():
                self.store.close()

    @property
    def epoch(self) -> str:
        return self.store.epoch

    @property
    def head(self) -> int:
        """The last event that observers and feeds have been given."""
        return self._head

    @property
    def unwritten(self) -> int:
        """How many events are not durable yet."""
        return sum(len(request.facts) for request in self._unwritten)

    # --- in

    async def append(self, *drafts: Draft, hold: bool = False) -> list[Event]:
        """Returns when they are durable and every observer has seen them: all of them, or none.

        A caller that is cancelled meanwhile changes nothing: they are written all the same.
        Without room on the disk this raises `StorageFull`; but with `hold` (what a running turn
        still produces) they are kept in memory, up to a bound, and this returns once they are
        written. A name that is taken raises `Conflict`.
        """
        if self._closed:
            raise SessionsError("The log is closed. Start claude-sessions again.")
        if not drafts:
            return []
        facts = to_facts(drafts, self._clock(), epoch=self.store.epoch, runner=self._runner)
        request = Request(facts, hold, self._loop.create_future())
        if self.trouble is not None:
            self._hold_or_refuse(request)
        self._unwritten.add(request)
        if not self._queued:
            # At the end of this turn of the loop: all who append in it share one commit.
            self._loop.call_soon(self._flush)
        self._queued.append(request)
        return await request.done

    def signal(self, signal: Signal) -> None:
        self._open.take(signal)
        for key in (signal.session, None):
            for feed in tuple(self._feeds.get(key, ())):
                if feed.signals:
                    feed.push(signal)

    def retry(self) -> None:
        """Somebody may have made room: try now."""
        self._writer.put([])

    async def change(self, act: Callable[[Store], T]) -> T:
        """Something other than an event: done by the writer, between two commits."""
        if self._closed:
            raise SessionsError("The log is closed. Start claude-sessions again.")
        chore = Chore(act, self._loop.create_future())
        self._chores.add(chore)
        self._flush()  # what was appended before it is written before it
        self._writer.put(chore)
        result: T = await chore.done
        return result

    def _hold_or_refuse(self, request: Request) -> None:
        held = self._held_bytes + request.size
        if not request.hold or held > self._hold_bytes:
            raise StorageFull(f"Nothing new can be stored: {self.trouble}, then try again.")
        self._held_bytes = held

    def _flush(self) -> None:
        if self._queued:
            self._writer.put(self._queued)
            self._queued = []

    # --- out

    def observe(self, observer: Callable[[Event], None]) -> Callable[[], None]:
        """Called on the loop with every event in order, before its `append` returns.

        Gives back how to stop. An observer must not raise: the log fails then, since what it
        keeps is no longer what the log says.
        """
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def follow(
        self, after: int | None = None, session: str | None = None, *, signals: bool = False
    ) -> Feed:
        """History after `after` and then live; None: from now. Use with `async with`."""
        return Feed(
            self,
            after=self._head if after is None else after,
            session=session,
            signals=signals,
            bound=self._feed_bound,
            page=PAGE,
        )

    def open_text(self, session: str) -> str:
        """What Claude has said in blocks that are not finished."""
        return self._open.text(session)

    def _publish(self, event: Event) -> None:
        self._head = event.seq
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception as error:
                logger.exception("log.observer_failed", type=event.type, seq=event.seq)
                self._fail(error)
        if self._open:
            self._open.take(event)
        if self._feeds:
            for key in {event.session, None}:
                for feed in tuple(self._feeds.get(key, ())):
                    feed.push(event)

    # --- what the writer reports

    def _hear(self, report: Report) -> None:
        with suppress(RuntimeError):  # the loop is gone, and so is everyone who could be told
            self._loop.call_soon_threadsafe(self._settle, report)

    def _settle(self, report: Report) -> None:
        if report.trouble is not None and self.trouble is None:
            self._say(f"Nothing new can be stored: {report.trouble}.")
        for request in report.written:
            for fact in request.facts:
                self._publish(fact.event)
        if report.trouble is None and self.trouble is not None:
            self._say("There is room again, and everything that waited is stored.")
        self.trouble = report.trouble
        for request in report.written:
            self._unwritten.discard(request)
            if not request.done.done():  # its caller may have been cancelled
                request.done.set_result([fact.event for fact in request.facts])
        for request, error in report.refused:
            self._refuse(request, error)
        for chore in report.chores:
            self._finish(chore)
        if report.trouble is not None:
            self._held_bytes = sum(request.size for request in self._unwritten)
        if report.failure is not None:
            logger.error("log.failed", exc_info=report.failure)
            self._closed = True
            self._fail(report.failure)
            for request in list(self._unwritten):
                self._refuse(request, SessionsError(f"The log has failed: {report.failure}"))
            self._drop_chores(SessionsError(f"The log has failed: {report.failure}"))
        if report.ended and not self._ended.done():
            self._ended.set_result(None)

    def _say(self, message: str) -> None:
        logger.warning("log.trouble", message=message)
        for feed in self._all_feeds():
            if feed.signals:
                feed.push(StorageTrouble(session="", message=message))

    def _fail(self, error: BaseException) -> None:
        self.failure = self.failure or error
        self.failed.set()

    def _drop_chores(self, error: SessionsError) -> None:
        for chore in list(self._chores):
            chore.error = error
            self._finish(chore)

    def _give_up(self) -> None:
        self._drop_chores(SessionsError("The log is closed. Start claude-sessions again."))
        if lost := sum(len(request.facts) for request in self._unwritten):
            why = self.trouble or "the disk does not answer"
            logger.error("log.lost", events=lost, why=why)
            for request in list(self._unwritten):
                self._refuse(request, StorageFull(f"The log closed before this was stored: {why}."))

    def _finish(self, chore: Chore) -> None:
        self._chores.discard(chore)
        if chore.done.done():
            return
        if chore.error is not None:
            chore.done.set_exception(chore.error)
        else:
            chore.done.set_result(chore.result)

    def _refuse(self, request: Request, error: SessionsError) -> None:
        self._unwritten.discard(request)
        if not request.done.done():
            request.done.set_exception(error)

    # --- what a feed needs

    def join(self, feed: Feed) -> None:
        if self._finished:
            feed.finish()
            return
        self._feeds.setdefault(feed.session, []).append(feed)

    def leave(self, feed: Feed) -> None:
        feeds = self._feeds.get(feed.session, [])
        if feed in feeds:
            feeds.remove(feed)
        if not feeds:
            self._feeds.pop(feed.session, None)

    def open_deltas(self, session: str | None) -> list[Delta]:
        return self._open.deltas(session)

    def _all_feeds(self) -> list[Feed]:
        return [feed for feeds in self._feeds.values() for feed in feeds]
