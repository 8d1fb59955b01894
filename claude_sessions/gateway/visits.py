"""Connections that stay: each ends with its token, with the gateway, or by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from claude_sessions.clock import Clock
from claude_sessions.commands.figures import count
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.refusals import TOO_MANY, Refused
from claude_sessions.health import Report

MOST = 5000
MOST_OF_ONE = 500  # of a scoped token: a program that leaks them shuts nobody else out
LOOK_SECONDS = 60.0  # until it is looked again whether a token has expired


class Over(StrEnum):
    """Why a connection is ended from our side."""

    REVOKED = "the token was revoked"
    EXPIRED = "the token has expired"
    STOPPING = "the daemon stops; come back with your position"
    SLOW = "too slow to read; come back with your position"


@dataclass(slots=True, eq=False)
class Visit:
    """`over` is done once it has to end, with the reason."""

    visitor: Visitor
    over: asyncio.Future[Over] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    alarm: asyncio.TimerHandle | None = None

    def end(self, why: Over) -> None:
        if not self.over.done():
            self.over.set_result(why)


class Visits:
    def __init__(self, clock: Clock, *, look_seconds: float = LOOK_SECONDS) -> None:
        self._clock = clock
        self._look_seconds = look_seconds
        self._open: set[Visit] = set()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._open)

    def report(self, url: str) -> Report:
        line = f"Gateway: {url} · {count(len(self), 'open connection')}"
        return Report(name="gateway", lines=(line,), data={"url": url, "connections": len(self)})

    def make_sure_of_room(self, visitor: Visitor) -> None:
        """Raises `Refused`."""
        if len(self._open) >= MOST:
            raise Refused(TOO_MANY, f"There are {MOST} open connections.")
        if visitor.token is not None and self._of(visitor.token) >= MOST_OF_ONE:
            raise Refused(TOO_MANY, f"There are {MOST_OF_ONE} open connections with this token.")

    @contextmanager
    def begun(self, visitor: Visitor) -> Iterator[Visit]:
        self.make_sure_of_room(visitor)
        visit = Visit(visitor)
        self._open.add(visit)
        if self._stopping:
            visit.end(Over.STOPPING)
        self._watch(visit)
        try:
            yield visit
        finally:
            if visit.alarm is not None:
                visit.alarm.cancel()
            self._open.discard(visit)

    def _watch(self, visit: Visit) -> None:
        """Time and again: a timer stands still while the machine sleeps, and clocks are set."""
        if (until := visit.visitor.until) is None:
            return
        left = (until - self._clock.now()).total_seconds()
        if left <= 0:
            visit.end(Over.EXPIRED)
            return
        loop = asyncio.get_running_loop()
        visit.alarm = loop.call_later(min(left, self._look_seconds), self._watch, visit)

    def _of(self, token: str) -> int:
        return sum(visit.visitor.token == token for visit in self._open)

    def revoked(self, token: str) -> None:
        for visit in tuple(self._open):
            if visit.visitor.token == token:
                visit.end(Over.REVOKED)

    def stop(self) -> None:
        self._stopping = True
        for visit in tuple(self._open):
            visit.end(Over.STOPPING)
