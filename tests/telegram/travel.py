"""A clock that goes as clocks go, and can be put forward: a night passes in a moment."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import datetime, timedelta


class TravelClock:
    def __init__(self, start: datetime) -> None:
        self._start = start
        self._began = time.monotonic()
        self._ahead = 0.0
        self._jumped = asyncio.Event()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic())

    def timestamp(self) -> float:
        return self.now().timestamp()

    def monotonic(self) -> float:
        return time.monotonic() - self._began + self._ahead

    async def sleep(self, seconds: float) -> None:
        end = self.monotonic() + seconds
        while (left := end - self.monotonic()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._jumped.wait()

    def jump(self, *, hours: float = 0.0, seconds: float = 0.0) -> None:
        """Whoever sleeps looks at the clock anew."""
        self._ahead += hours * 3600 + seconds
        jumped, self._jumped = self._jumped, asyncio.Event()
        jumped.set()

    def jump_to(self, at: datetime) -> None:
        self.jump(seconds=max((at - self.now()).total_seconds(), 0.0))
