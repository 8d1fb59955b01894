"""A WebSocket that is talked on: sending has a limit, and an end from our side has a code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from claude_sessions.gateway.visits import Over, Visit

SLOW_SECONDS = 20.0  # for a peer to take one message
CODES = {Over.REVOKED: 4401, Over.EXPIRED: 4401, Over.STOPPING: 1012, Over.SLOW: 1013}


class Line:
    """An accepted one. `send` is for several tasks; `heard` for one."""

    def __init__(self, socket: WebSocket, visit: Visit) -> None:
        self._socket = socket
        self._visit = visit
        self._sending = asyncio.Lock()

    async def send(self, text: bytes) -> None:
        """Raises `WebSocketDisconnect` once nobody is there."""
        try:
            async with asyncio.timeout(SLOW_SECONDS), self._sending:
                await self._socket.send_text(text.decode())
        except TimeoutError:
            self._visit.end(Over.SLOW)
            raise WebSocketDisconnect(CODES[Over.SLOW]) from None

    async def heard(self) -> AsyncIterator[bytes]:
        """Each frame, text or not; ends when the peer leaves."""
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            yield text.encode() if text is not None else message.get("bytes") or b""


async def talked(
    socket: WebSocket, visit: Visit, works: Callable[[Line], list[Coroutine[Any, Any, None]]]
) -> None:
    """Accepts, and lasts until the first of the works is done or the visit is over."""
    await socket.accept()
    tasks = [asyncio.ensure_future(work) for work in works(Line(socket, visit))]
    try:
        ends: list[asyncio.Future[Any]] = [*tasks, visit.over]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await _close(socket, visit)
    for failure in ended:
        if isinstance(failure, Exception) and (rest := _without_leaving(failure)) is not None:
            raise rest


def _without_leaving(failure: Exception) -> Exception | None:
    """That the peer left is no failure, also among others."""
    if isinstance(failure, ExceptionGroup):
        return failure.split(WebSocketDisconnect)[1]
    return None if isinstance(failure, WebSocketDisconnect) else failure


async def _close(socket: WebSocket, visit: Visit) -> None:
    if socket.client_state is WebSocketState.DISCONNECTED:
        return
    why = visit.over.result() if visit.over.done() else None
    try:
        if why is not None:
            await socket.close(CODES[why], str(why))
        else:
            await socket.close(1000)
    except (RuntimeError, WebSocketDisconnect):  # it has gone meanwhile
        pass
