"""Following the log: history, then live, with no gap and no repeat.

A feed joins the live road first and only then reads history, up to exactly the place where it
joined; what arrives meanwhile waits behind it. One that falls too far behind loses what waits and
joins again from its own place, so that nobody waits for a slow reader and no event is lost to it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from claude_sessions import events as e

Item = e.Event | e.Signal
Delta = e.AssistantDelta | e.ThinkingDelta


class Source(Protocol):
    """What a feed needs of the log. All but `events` belong to the loop and never wait."""

    @property
    def head(self) -> int:
        """The last event that live readers have been given."""

    def join(self, feed: Feed) -> None:
        """From here on it is given what happens; a log that is closed finishes it instead."""

    def leave(self, feed: Feed) -> None: ...

    def open_deltas(self, session: str | None) -> Sequence[Item]:
        """Per open block, one delta from its beginning."""

    async def events(
        self, session: str | None, *, after: int, upto: int, limit: int
    ) -> list[e.Event]: ...


class Feed:
    """One reader's own place in the log. For one task at a time.

    Cancelling the wait for an item loses nothing. With signals, a reader that joins in the middle
    of a block first gets one delta from offset 0 with all the block has so far.
    """

    def __init__(
        self,
        source: Source,
        *,
        after: int,
        session: str | None,
        signals: bool,
        bound: int,
        page: int,
    ) -> None:
        self.session = session
        self.signals = signals
        self._source = source
        self._bound = bound
        self._page = page
        self._place = after  # what lies at or before has been read
        self._upto = 0  # history ends here, where we joined
        self._joined = False
        self._history: deque[e.Event] = deque()
        self._live: deque[Item] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False
        self._ending = False

    async def __aenter__(self) -> Self:
        self._join()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        while not self._closed:
            if self._history:
                return self._history.popleft()
            if not self._joined:
                self._join()
            if self._place < self._upto:
                await self._read()
            elif self._live:
                item = self._live.popleft()
                if not isinstance(item, e.Event):
                    return item
                if item.seq > self._place:  # `after` may lie ahead of the log
                    self._place = item.seq
                    return item
            elif self._ending:
                break
            else:
                await self._wait()
        raise StopAsyncIteration

    async def several(self) -> list[Item]:
        """The next one, and those behind it that are here already; none: it is over."""
        async for item in self:
            return [item, *self._at_hand()]
        return []

    def _at_hand(self) -> list[Item]:
        found: list[Item] = []
        if self._history:
            found.extend(self._history)
            self._history.clear()
        elif self._place >= self._upto:
            found.extend(i for i in self._live if not isinstance(i, e.Event) or i.seq > self._place)
            self._live.clear()
            self._place = max((i.seq for i in found if isinstance(i, e.Event)), default=self._place)
        return found

    def close(self) -> None:
        """Ends the iteration at once, also for a reader that waits."""
        self._closed = True
        self._source.leave(self)
        self._history.clear()
        self._live.clear()
        self._wake()

    def finish(self) -> None:
        """The log closes: all it holds is still read, then the iteration ends."""
        self._ending = True
        self._wake()

    def push(self, item: Item) -> None:
        if len(self._live) >= self._bound:
            self._live.clear()
            self._joined = False
            self._source.leave(self)
        else:
            self._live.append(item)
        self._wake()

    def _join(self) -> None:
        if self._joined:
            return
        self._source.join(self)
        self._joined = True
        self._upto = self._source.head
        if self.signals:
            self._live.extend(self._source.open_deltas(self.session))

    async def _read(self) -> None:
        upto = self._upto
        found = await self._source.events(
            self.session, after=self._place, upto=upto, limit=self._page
        )
        self._history.extend(found)
        self._place = found[-1].seq if len(found) == self._page else upto

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


@dataclass(slots=True)
class _Block:
    kind: type[Delta]
    turn: str | None
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    def add(self, offset: int, text: str) -> None:
        if offset > self.length:  # its beginning never came by: nothing exact can be said of it
            return
        if offset < self.length:
            self.pieces = [self.text[:offset]]
        self.pieces.append(text)
        self.length = offset + len(text)


class OpenBlocks:
    """The text of blocks that are being written and not yet in the log. Pure."""

    def __init__(self) -> None:
        self._sessions: dict[str, dict[str, _Block]] = {}

    def __bool__(self) -> bool:
        return bool(self._sessions)

    def take(self, item: Item) -> None:
        if isinstance(item, Delta):
            blocks = self._sessions.setdefault(item.session, {})
            block = blocks.setdefault(item.block, _Block(type(item), item.turn))
            block.add(item.offset, item.text)
        elif isinstance(item, e.Event) and item.session in self._sessions:
            self._close(item.session, item.payload)

    def deltas(self, session: str | None) -> list[Delta]:
        return [
            block.kind(session=owner, turn=block.turn, block=name, offset=0, text=block.text)
            for owner in ([session] if session is not None else list(self._sessions))
            for name, block in self._sessions.get(owner, {}).items()
            if block.length
        ]

    def text(self, session: str) -> str:
        return "\n\n".join(
            block.text
            for block in self._sessions.get(session, {}).values()
            if block.kind is e.AssistantDelta and block.length
        )

    def _close(self, session: str, payload: e.Payload) -> None:
        match payload:
            case e.AssistantMessage(block=name) | e.AssistantThought(block=name):
                self._sessions[session].pop(name, None)
                if not self._sessions[session]:
                    del self._sessions[session]
            case e.TurnCompleted() | e.TurnInterrupted() | e.SessionEnded() | e.SessionAsleep():
                del self._sessions[session]
