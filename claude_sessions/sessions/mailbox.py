"""How a session is spoken to: whatever comes, in order, for one task to handle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import structlog

from claude_sessions.cause import CAUSE, because
from claude_sessions.errors import Conflict

log = structlog.get_logger()

T = TypeVar("T")
Act = Callable[[], Awaitable[Any]]


class Gone(Conflict):
    """It gave its process back while it was being spoken to; whoever called tries again."""


@dataclass(slots=True)
class Order:
    """Something to do, and somebody who waits for it."""

    act: Act
    done: asyncio.Future[Any]
    own: bool = False  # the session's own: nobody waits
    cause: str | None = field(default_factory=CAUSE.get)  # of whoever gave it

    async def carry_out(self) -> None:
        """Its failure is the concern of whoever gave the order."""
        try:
            with because(self.cause):
                result = await self.act()
        except Exception as error:
            if self.own:
                raise
            if self.done.done():
                log.info("order.failed", problem=str(error))  # whoever gave it has gone
            else:
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
            self.post(Order(act, asyncio.get_running_loop().create_future(), own=True))

        return post

    def __len__(self) -> int:
        return self._items.qsize()

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
