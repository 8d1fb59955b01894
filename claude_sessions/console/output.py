"""Writing to a terminal or a pipe without ever holding up the loop.

A terminal may stop taking text (Ctrl-S, a slow line). Writing is therefore done by a thread of its
own, and whoever writes may wait for it, or not.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from queue import SimpleQueue


class Output:
    """Owns no descriptor: it only writes to one. For one loop."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = SimpleQueue()
        # A daemon: a terminal that takes nothing more must not keep the program from ending.
        self._thread = threading.Thread(target=self._work, name="console-output", daemon=True)
        self._thread.start()

    @property
    def fd(self) -> int:
        return self._fd

    def write(self, text: str) -> asyncio.Future[None]:
        """In order. The future is done when it is out, and raises OSError when nobody reads."""
        done: asyncio.Future[None] = self._loop.create_future()
        done.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._queue.put((text.encode("utf-8", "replace"), done))
        return done

    async def close(self, seconds: float = 1.0) -> None:
        """What waits is written, if that takes no longer than `seconds`."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join, seconds)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            data, done = item
            try:
                while data:
                    data = data[os.write(self._fd, data) :]
            except OSError as error:
                self._settle(done, error)
            else:
                self._settle(done, None)

    def _settle(self, done: asyncio.Future[None], error: OSError | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            self._loop.call_soon_threadsafe(_set, done, error)


def _set(done: asyncio.Future[None], error: OSError | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
