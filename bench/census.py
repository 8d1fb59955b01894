"""How many CLI processes there are, looked at again and again while something else goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil

EVERY_SECONDS = 0.1
CONVERSES = "--input-format"  # what `claude agents --json`, asked for a moment, is not started with

Command = list[str]


@dataclass(slots=True)
class Census:
    most: int = 0

    def note(self, count: int) -> None:
        self.most = max(self.most, count)


@asynccontextmanager
async def counting(census: Census, whose: Callable[[Command], bool]) -> AsyncIterator[None]:
    """Below this process, of those whose command line is one of `whose`."""
    watching = asyncio.create_task(_watch(census, whose), name="census")
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.wait([watching])
    census.note(count(whose))


async def _watch(census: Census, whose: Callable[[Command], bool]) -> None:
    while True:
        census.note(await asyncio.to_thread(count, whose))
        await asyncio.sleep(EVERY_SECONDS)


def count(whose: Callable[[Command], bool]) -> int:
    return sum(CONVERSES in command and whose(command) for command in commands())


def commands() -> list[Command]:
    """Of our children; the wrappers around a CLI become it, so none is counted twice."""
    found: list[Command] = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # gone meanwhile
            found.append(child.cmdline())
    return found
