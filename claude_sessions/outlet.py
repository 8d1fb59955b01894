"""One channel's road out: everything for it, in order, one call at a time.

Putting something on the road never waits. Words that stream are not queued piece by piece: the
queue holds the stream, and its text is read when its turn comes, so a slow channel simply sees
fewer and longer edits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

import structlog

from claude_sessions.channel import Channel, ChannelClosed, MessageRef, Notification
from claude_sessions.clock import Clock

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
StreamKey = tuple[str, str]  # session, block

logger = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class Stream:
    """A block on its way to this channel. `text` gives all of it so far."""

    key: StreamKey
    look: Notification
    text: Callable[[], str]
    ref: MessageRef | None = None
    shown: str = ""
    queued: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    notification: Notification
    done: Callable[[], Awaitable[None]] | None = None  # once it is out


@dataclass(slots=True, eq=False)
class Copy:
    """A card as this channel has it."""

    ref: MessageRef | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A card: sent the first time, afterwards its copy is edited."""

    copy: Copy
    notification: Notification


class Outlet:
    """`after`: events up to there are not this channel's business. `caller`: what this one did was
    answered here already. `bound`: when so much waits, the channel is cut; None: it is durable, and
    waited for. `place`: how far the log has been read. `run` is its delivery task.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        after: int,
        caller: str | None,
        clock: Clock,
        throttle_seconds: float,
        bound: int | None,
        spawn: Spawn,
        place: Callable[[], int] = lambda: 0,
    ) -> None:
        self.channel = channel
        self.after = after
        self.caller = caller
        self.durable = bound is None
        self._clock = clock
        self._throttle_seconds = throttle_seconds
        self._bound = bound
        self._spawn = spawn
        self._place = place
        self._queue: deque[tuple[int, Told | Shown | Stream]] = deque()
        self._at: int | None = None  # where in the log the one on its way comes from
        self._wake = asyncio.Event()
        self._streams: dict[StreamKey, Stream] = {}
        self._next_edit: dict[str, float] = {}  # session → when its next edit may go out
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._cards: dict[str, Copy] = {}
        self._finishing = False
        self._cut = False

    # --- on the road: none of these waits

    def tell(self, notification: Notification) -> None:
        self.flush(notification.session)
        self._put(Told(notification))

    def greet(self, greeting: Told) -> None:
        self._put(greeting)

    def show(self, approval_id: str, notification: Notification) -> None:
        self.flush(notification.session)
        self._put(Shown(self._cards.setdefault(approval_id, Copy()), notification))

    def has_card(self, approval_id: str) -> bool:
        return approval_id in self._cards

    def forget_card(self, approval_id: str) -> None:
        """No edit will follow those that are already on the road."""
        self._cards.pop(approval_id, None)

    def stream(self, key: StreamKey, look: Notification, text: Callable[[], str]) -> None:
        """More of a block: its first words go out at once, then one edit each interval."""
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = Stream(key, look, text)
            self._enqueue(stream)
        elif not stream.queued:
            self._enqueue_when_due(stream)

    def finish_stream(self, key: StreamKey, look: Notification, text: str) -> None:
        """The whole block: at once, as the last edit of its message."""
        stream = self._streams.pop(key, None) or Stream(key, look, lambda: text)
        stream.look, stream.text, stream.final = look, lambda: text, True
        self._enqueue(stream)

    def leave(self, session: str) -> None:
        """What streams of this session stops here, with the words it has."""
        for key in [key for key in self._streams if key[0] == session]:
            stream = self._streams[key]
            self.finish_stream(key, stream.look, stream.text())

    def flush(self, session: str | None) -> None:
        for stream in self._streams.values():
            if stream.key[0] == session and stream.text() != stream.shown:
                self._enqueue(stream)

    def finish(self) -> None:
        """`run` ends once everything that waits is delivered."""
        for session, _ in list(self._streams):
            self.leave(session)
        self._finishing = True
        self._wake.set()

    def _enqueue(self, stream: Stream) -> None:
        if not stream.queued:
            stream.queued = True
            self._put(stream)

    def _enqueue_when_due(self, stream: Stream) -> None:
        session = stream.key[0]
        wait = self._next_edit.get(session, 0.0) - self._clock.monotonic()
        if wait <= 0:
            self._enqueue(stream)
        elif session not in self._timers:
            timer = self._spawn(self._flush_in(wait, session), f"throttle:{self.channel.id}")
            self._timers[session] = timer

    async def _flush_in(self, seconds: float, session: str) -> None:
        try:
            await self._clock.sleep(seconds)
        finally:
            self._timers.pop(session, None)
        self.flush(session)

    def _put(self, item: Told | Shown | Stream) -> None:
        if self._bound is not None and len(self._queue) >= self._bound:
            logger.warning("channel.too_slow", channel=self.channel.id, waiting=len(self._queue))
            self._queue.clear()
            self._cut = True
        elif not self._cut:
            self._queue.append((self._place(), item))
        self._wake.set()

    @property
    def settled(self) -> int:
        """Up to here in the log, all that concerns this channel has been delivered."""
        if self._at is not None:
            return self._at - 1
        return self._queue[0][0] - 1 if self._queue else self._place()

    # --- delivery

    async def run(self) -> None:
        """Ends when told to finish, or cut for being slow. Raises ChannelClosed."""
        try:
            while True:
                while self._queue:
                    self._at, item = self._queue.popleft()
                    await self._deliver(item)
                    self._at = None
                if self._finishing or self._cut:
                    return
                self._wake.clear()
                await self._wake.wait()
        finally:
            for timer in self._timers.values():
                timer.cancel()

    async def _deliver(self, item: Told | Shown | Stream) -> None:
        try:
            match item:
                case Told():
                    await self.channel.send(item.notification)
                    if item.done is not None:
                        await item.done()
                case Shown():
                    await self._deliver_card(item)
                case Stream():
                    await self._deliver_stream(item)
        except ChannelClosed:
            raise
        except Exception:
            logger.exception("channel.failed", channel=self.channel.id)

    async def _deliver_card(self, card: Shown) -> None:
        if card.copy.ref is None:
            card.copy.ref = await self.channel.send(card.notification)
        else:
            await self.channel.edit(card.copy.ref, card.notification)

    async def _deliver_stream(self, stream: Stream) -> None:
        stream.queued = False
        text = stream.text()
        if not text or (text == stream.shown and not stream.final):
            return
        self._next_edit[stream.key[0]] = self._clock.monotonic() + self._throttle_seconds
        now = replace(stream.look, text=text, final=stream.final)
        stream.shown = text
        if stream.ref is None:
            stream.ref = await self.channel.send(now)
        else:
            await self.channel.edit(stream.ref, now)
        if not stream.final and not stream.queued and stream.text() != text:
            self._enqueue_when_due(stream)
