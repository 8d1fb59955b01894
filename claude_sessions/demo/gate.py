"""A place in a script where the answer waits for the test."""

import asyncio


class Gate:
    """Holds every answer that comes to it until `open()`; afterwards it lets all through.

    >>> gate = Gate()
    >>> script.on("count", say("one ", gate, "two"))
    >>> await gate.reached()     # "one " has been sent, "two" has not
    >>> gate.open()
    """

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._arrived = asyncio.Condition()
        self._arrivals = 0

    @property
    def arrivals(self) -> int:
        """How many answers have come here so far, let through or not."""
        return self._arrivals

    def open(self) -> None:
        self._open.set()

    async def reached(self, *, count: int = 1, timeout: float = 10) -> None:  # noqa: ASYNC109
        """Wait until `count` answers have come here; TimeoutError if they do not."""
        async with asyncio.timeout(timeout), self._arrived:
            await self._arrived.wait_for(lambda: self._arrivals >= count)

    async def pass_through(self) -> None:
        """The model's side: announce an arrival, then wait for `open()`."""
        async with self._arrived:
            self._arrivals += 1
            self._arrived.notify_all()
        await self._open.wait()
