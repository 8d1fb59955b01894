"""How a session is spoken to: whatever comes, in order, for one task to handle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from claude_sessions.errors import Conflict

T = TypeVar("T")
Act = Callable[[], Awaitable[Any]]


class Gone(Conflict):
    """It gave its process back while it was being spoken to; whoever called tries again."""


@dataclass(slots=True)
class Order:
    """Something to do, and somebody who waits for it."""

    act: Act
    done: asyncio.Future[Any]

    async def carry_out(self) -> None:
        """Its failure is the concern of whoever gave the order."""
        try:
            result = await self.act()
        except Exception as error:
            if self.done.done():
                raise
            self.done.set_exception(error)
        else:
            if not self.done.done():
                self.done.set_result(result)


class Mailbox(Generic[T]):
    def __init__(self) -> None:
        self._items: asyncio.Queue[T | Order] = asyncio.Queue()
        self._closed = False

    def post(self, item: T | Order) -> None:
        self._items.put_nowait(item)

    async def order(self, act: Act) -> Any:
        if self._closed:
            raise Gone("The session has just stopped.")
        order = Order(act, asyncio.get_running_loop().create_future())
        self.post(order)
        return await order.done

    def ring(self, act: Act) -> Callable[[], None]:
        """An order that nobody waits for: what an alarm does."""

        def post() -> None:
            done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            done.cancel()  # so that a failure is the session's own
            self.post(Order(act, done))

        return post

    async def take(self) -> T | Order:
        return await self._items.get()

    def take_all(self) -> list[T | Order]:
        """All that is there now."""
        return [self._items.get_nowait() for _ in range(self._items.qsize())]

    def close(self) -> None:
        """Nobody who spoke at the last moment may wait for ever."""
        self._closed = True
        for item in self.take_all():
            if isinstance(item, Order) and not item.done.done():
                item.done.set_exception(Gone("The session has just stopped."))
