"""What the bot has asked for, and what came of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .bell import Bell

OK = "ok"
MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    method: str
    params: dict[str, Any]
    at: float
    outcome: str
    """`ok`, the description of the refusal, or which fault it met."""

    @property
    def ok(self) -> bool:
        return self.outcome == OK


class Calls:
    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=MOST_KEPT)
        self._added = 0
        self._bell = Bell()

    def add(self, call: Call) -> None:
        self._calls.append(call)
        self._added += 1
        self._bell.ring()

    def clear(self) -> None:
        self._calls.clear()

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    def __len__(self) -> int:
        return len(self._calls)

    def of(self, *methods: str) -> list[Call]:
        return [call for call in self._calls if call.method in methods]

    def _since(self, added: int) -> list[Call]:
        """Those after so many, oldest first."""
        return list(islice(reversed(self._calls), self._added - added))[::-1]

    async def called(
        self,
        method: str,
        where: Callable[[Call], bool] = lambda call: True,
        timeout: float = 15.0,  # noqa: ASYNC109 - a test's deadline
    ) -> Call:
        seen = 0

        def look() -> Call | None:
            nonlocal seen
            fresh, seen = self._since(seen), self._added
            return next((each for each in fresh if each.method == method and where(each)), None)

        async with asyncio.timeout(timeout):
            return await self._bell.until(look)
