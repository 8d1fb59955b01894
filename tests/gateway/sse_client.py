"""An independent reader of server-sent events: httpx-sse over a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from httpx_sse import EventSource, ServerSentEvent

from tests.gateway.port import Port

PATIENCE = 20.0


class Reading:
    def __init__(self, source: EventSource) -> None:
        self.status = source.response.status_code
        self._events = source.aiter_sse()

    async def next(self) -> ServerSentEvent:
        return await anext(self._events)

    async def until(self, holds: Callable[[ServerSentEvent], bool]) -> list[ServerSentEvent]:
        """All up to the first that is meant, and that one."""
        found: list[ServerSentEvent] = []
        async for event in self._events:
            found.append(event)
            if holds(event):
                break
        return found

    async def to_end(self) -> list[ServerSentEvent]:
        return [event async for event in self._events]


@asynccontextmanager
async def reading(
    port: Port, path: str, *, last_id: str | None = None, **params: Any
) -> AsyncIterator[Reading]:
    headers = {"Accept": "text/event-stream"}
    if last_id is not None:
        headers["Last-Event-ID"] = last_id
    request = port.http.stream("GET", path, params=params, headers=headers, timeout=PATIENCE)
    async with request as response:
        assert response.status_code == 200, await response.aread()
        yield Reading(EventSource(response))
