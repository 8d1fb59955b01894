"""How a process of the benchmarks is told what to do, and says that it is done: line by line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator


async def orders() -> AsyncIterator[str]:
    """Until stdin ends."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        yield line.decode().strip()


def report(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()
