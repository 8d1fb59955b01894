"""A forum on somebody's phone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from tests.botapi import Chat
from tests.botapi.chats import Topic
from tests.telegram.phone import Phone

Open = Callable[[], AbstractAsyncContextManager[Phone]]


async def topic(forum: Chat, name: str, *, closed: bool = False) -> int:
    """Its thread, once there is such a one."""

    def look() -> Topic | None:
        fits = (t for t in forum.topics.values() if (t.name, t.closed) == (name, closed))
        return next(fits, None)

    found = await forum.until(look, f"no topic {name!r}, closed={closed}", 20)
    return found.thread
