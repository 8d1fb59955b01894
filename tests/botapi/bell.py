"""Waiting until something has become true, woken by whoever may have made it so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Bell:
    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def ring(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    async def until(self, look: Callable[[], T | None]) -> T:
        while (found := look()) is None:
            rung = asyncio.get_running_loop().create_future()
            self._waiting.add(rung)
            try:
                await rung
            finally:
                self._waiting.discard(rung)
        return found
