"""A response that lasts: it follows the log until its reader leaves, or has to.

Not a library's: each subscriber costs a task, a watcher and a feed, and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from claude_sessions.feed import Feed, Item
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.patience import ABORT
from claude_sessions.gateway.sockets import SLOW_SECONDS
from claude_sessions.gateway.sse import HEADERS, KEEP_ALIVE, packed
from claude_sessions.gateway.visits import Over, Visit, Visits

LAST_WORDS_SECONDS = 2.0  # for a reader to take them; less than the server's own patience


@dataclass(frozen=True, slots=True)
class Tongue:
    """How a reader wants to be told. `form`: empty for what it does not want."""

    form: Callable[[Item], bytes]
    opening: bytes = b""
    closing: Callable[[Over], bytes] = lambda why: b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    keep_alive: float = 15.0  # seconds of silence after which a comment is sent
    slow: float = SLOW_SECONDS  # for a reader to take one piece


PACE = Pace()


class EventStream(Response):
    def __init__(
        self, visits: Visits, visitor: Visitor, feed: Feed, tongue: Tongue, pace: Pace = PACE
    ) -> None:
        self.status_code = 200
        self.background = None
        self._visits = visits
        self._visitor = visitor
        self._feed = feed
        self._tongue = tongue
        self._pace = pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin = {"type": "http.response.start", "status": 200, "headers": HEADERS}
        if scope["method"] == "HEAD":
            await send(begin)
            await send({"type": "http.response.body"})
            return
        with self._visits.begun(self._visitor) as visit:
            async with self._feed as feed:
                await send(begin)
                reader = _Reader(visit, feed, self._tongue, self._pace, send)
                await reader.serve(receive, scope["state"][ABORT])


class _Reader:
    __slots__ = ("_feed", "_gone", "_pace", "_send", "_sending", "_tongue", "_visit")

    def __init__(self, visit: Visit, feed: Feed, tongue: Tongue, pace: Pace, send: Send) -> None:
        self._visit = visit
        self._feed = feed
        self._tongue = tongue
        self._pace = pace
        self._send = send
        self._sending = False
        self._gone = False

    async def serve(self, receive: Receive, abort: Callable[[], None]) -> None:
        watcher = asyncio.create_task(self._watch(receive), name="sse.watch")
        deadlines: list[asyncio.TimerHandle] = []
        loop = asyncio.get_running_loop()

        def stop(_: asyncio.Future[Over]) -> None:
            self._feed.close()
            deadlines.append(loop.call_later(LAST_WORDS_SECONDS, abort))

        self._visit.over.add_done_callback(stop)
        try:
            await self._tell()
            if not self._gone:
                await self._take_leave()
        except TimeoutError:
            self._visit.end(Over.SLOW)
            abort()
            await asyncio.sleep(0)  # so that the server knows that nobody is there
        finally:
            self._visit.over.remove_done_callback(stop)
            for deadline in deadlines:
                deadline.cancel()
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)

    async def _tell(self) -> None:
        form, over = self._tongue.form, self._visit.over
        if self._tongue.opening:
            await self._say(self._tongue.opening)
        while items := await self._feed.several():
            for piece in packed(map(form, items)):
                if self._gone or over.done():
                    return
                await self._say(piece)
                await asyncio.sleep(0)  # a long history is told between what others do

    async def _take_leave(self) -> None:
        over = self._visit.over
        why = over.result() if over.done() else Over.STOPPING  # the log has ended
        await self._say(self._tongue.closing(why), more=False)

    async def _say(self, piece: bytes, *, more: bool = True) -> None:
        """Raises `TimeoutError` when it is not taken."""
        self._sending = True
        async with asyncio.timeout(self._pace.slow):
            await self._send({"type": "http.response.body", "body": piece, "more_body": more})
        self._sending = False

    async def _watch(self, receive: Receive) -> None:
        """Until the reader leaves; meanwhile it hears now and then that we are still here."""
        try:
            while not self._gone:
                if (message := await self._heard(receive)) is not None:
                    self._gone = message["type"] == "http.disconnect"
                elif not self._sending:
                    await self._say(KEEP_ALIVE)
        except TimeoutError:
            self._visit.end(Over.SLOW)
        finally:
            self._feed.close()

    async def _heard(self, receive: Receive) -> Message | None:
        try:
            async with asyncio.timeout(self._pace.keep_alive):
                return await receive()
        except TimeoutError:
            return None
