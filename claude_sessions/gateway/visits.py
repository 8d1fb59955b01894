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

    def end(self, why: Over) -> None:
        if not self.over.done():
            self.over.set_result(why)


class Visits:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: set[Visit] = set()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._open)

    def report(self, url: str) -> Report:
        line = f"Gateway: {url} · {count(len(self), 'open connection')}"
        return Report(name="gateway", lines=(line,), data={"url": url, "connections": len(self)})

    @contextmanager
    def begun(self, visitor: Visitor) -> Iterator[Visit]:
        if len(self._open) >= MOST:
            raise Refused(TOO_MANY, f"There are {MOST} open connections.")
        visit = Visit(visitor)
        self._open.add(visit)
        if self._stopping:
            visit.end(Over.STOPPING)
        alarm = self._alarm(visit)
        try:
            yield visit
        finally:
            if alarm is not None:
                alarm.cancel()
            self._open.discard(visit)

    def _alarm(self, visit: Visit) -> asyncio.TimerHandle | None:
        if visit.visitor.until is None:
            return None
        left = (visit.visitor.until - self._clock.now()).total_seconds()
        loop = asyncio.get_running_loop()
        return loop.call_later(max(left, 0.0), self._expired, visit)

    def _expired(self, visit: Visit) -> None:
        until = visit.visitor.until
        if until is not None and until <= self._clock.now():
            visit.end(Over.EXPIRED)

    def revoked(self, token: str) -> None:
        for visit in tuple(self._open):
            if visit.visitor.token == token:
                visit.end(Over.REVOKED)

    def stop(self) -> None:
        self._stopping = True
        for visit in tuple(self._open):
            visit.end(Over.STOPPING)
