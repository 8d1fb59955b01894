"""How long a program that hosts a daemon runs: until somebody tells it to stop, or it is done."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_signals() -> Iterator[asyncio.Event]:
    """Set by SIGTERM, SIGHUP or Ctrl-C, heard from the first moment to the last.

    A stop is bounded, so a second signal must not cut it short: sessions would be abandoned.
    """
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, told.set)
    try:
        yield told
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def first(**works: Coroutine[Any, Any, Any]) -> None:
    """Until the first of them is done; the others are ended."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work, name=name) for name, work in works.items()]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
