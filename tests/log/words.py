"""Facts and waiting, short enough for tests to read like sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.feed import Feed, Item

T = TypeVar("T")
DEADLINE = 20.0


def born(session: str, name: str | None = None) -> e.Draft:
    payload = e.SessionCreated(project_id="p1", name=name or session, directory=f"/srv/{session}")
    return e.Draft(session=session, project="p1", run="r1", payload=payload)


def said(text: str, session: str | None = "s1", block: str = "") -> e.Draft:
    return e.Draft(session=session, payload=e.AssistantMessage(text=text, block=block))


def delta(text: str, offset: int, block: str = "b1", session: str = "s1") -> e.AssistantDelta:
    return e.AssistantDelta(session=session, turn="t1", block=block, offset=offset, text=text)


def happened(payload: e.Payload, session: str = "s1") -> e.Draft:
    return e.Draft(session=session, payload=payload)


def texts(events: list[e.Event]) -> list[str]:
    return [event.payload.text for event in events if isinstance(event.payload, e.AssistantMessage)]


async def soon(waiting: Awaitable[T]) -> T:
    return await asyncio.wait_for(waiting, DEADLINE)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - what we wait for raises no event
            await asyncio.sleep(0.001)


async def take(feed: Feed, count: int) -> list[Item]:
    return [await soon(anext(feed)) for _ in range(count)]


async def read_to(feed: Feed, last: int) -> list[Item]:
    """All items up to the event with this place."""
    items: list[Item] = []
    async with asyncio.timeout(DEADLINE):
        async for item in feed:
            items.append(item)
            if isinstance(item, e.Event) and item.seq >= last:
                return items
    return items


def log_in(directory: Path, **options: Any) -> EventLog:
    return EventLog(directory / "log.sqlite", runner="runner01", **options)
