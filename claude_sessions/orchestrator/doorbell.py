"""At most one ring for a session in so many seconds: the first at once, the others in the next."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable

from claude_sessions.clock import Clock

SECONDS = 5.0
Reason = Callable[[], str | None]  # asked when it is time to ring; None: it no longer stands


class Doorbell:
    def __init__(
        self,
        ring: Callable[[str], Awaitable[None]],
        *,
        clock: Clock,
        group: asyncio.TaskGroup,
        seconds: float = SECONDS,
    ) -> None:
        self._ring = ring
        self._clock = clock
        self._group = group
        self._seconds = seconds
        self._due: dict[str, float] = {}  # session → when it may ring again
        self._last: dict[str, str] = {}
        self._held: defaultdict[str, list[Reason]] = defaultdict(list)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def press(self, session: str, reason: Reason) -> None:
        if session not in self._tasks and self._wait(session) <= 0:
            self._last.pop(session, None)  # that was long enough ago to say it again
            await self._say(session, [reason])
            return
        self._held[session].append(reason)
        if session not in self._tasks:
            task = self._group.create_task(self._later(session), name=f"doorbell:{session}")
            self._tasks[session] = task

    def hush(self, session: str) -> None:
        """Whatever was held for it has been overtaken."""
        self._held.pop(session, None)
        self._due.pop(session, None)
        self._last.pop(session, None)

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def _wait(self, session: str) -> float:
        return self._due.get(session, 0.0) - self._clock.monotonic()

    async def _later(self, session: str) -> None:
        try:
            while session in self._held:
                if (wait := self._wait(session)) > 0:
                    await self._clock.sleep(wait)
                await self._say(session, self._held.pop(session, []))
        finally:
            self._tasks.pop(session, None)

    async def _say(self, session: str, reasons: list[Reason]) -> None:
        standing = dict.fromkeys(text for reason in reasons if (text := reason()))
        text = "\n\n".join(standing)
        if text and text != self._last.get(session):
            self._due[session] = self._clock.monotonic() + self._seconds
            self._last[session] = text
            await self._ring(text)
