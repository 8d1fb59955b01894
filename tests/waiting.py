"""Waiting for a condition, with a deadline; never for a fixed time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def eventually(condition: Callable[[], object], seconds: float = 15.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what it waits for has no event to give
            await asyncio.sleep(0.01)
