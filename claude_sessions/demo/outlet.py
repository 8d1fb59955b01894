"""The two shapes of an answer on a connection: a stream of events, or one whole message."""

import asyncio
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping

from claude_sessions.demo import http, wire
from claude_sessions.demo.request import Fate

OVERLOADED = wire.failure("overloaded_error", "Overloaded")


class Outlet(ABC):
    """Takes the events of one answer in order; nothing is sent after `finish` or a fault."""

    def __init__(
        self, writer: asyncio.StreamWriter, fate: Fate, headers: Mapping[str, str]
    ) -> None:
        self._writer = writer
        self._fate = fate
        self._headers = headers

    @abstractmethod
    def event(self, event: wire.Event) -> None: ...

    @abstractmethod
    async def flush(self) -> None:
        """Let the client see what came so far, if this shape can."""

    @abstractmethod
    async def finish(self) -> None: ...

    @abstractmethod
    async def malformed(self) -> None: ...

    @abstractmethod
    async def overloaded(self) -> None: ...

    async def reply(
        self, status: int, payload: object, headers: Mapping[str, str] | None = None
    ) -> None:
        """The whole HTTP response at once."""
        self._fate.status = status
        self._writer.write(http.plain(status, payload, {**self._headers, **(headers or {})}))
        await self._writer.drain()

    def cut(self, *, reset: bool) -> None:
        """End the connection in the middle, with a FIN or with a RST."""
        if reset:
            linger = struct.pack("ii", 1, 0)
            sock = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._writer.transport.abort()


class Stream(Outlet):
    def __init__(
        self, writer: asyncio.StreamWriter, fate: Fate, headers: Mapping[str, str]
    ) -> None:
        super().__init__(writer, fate, headers)
        self._ready = bytearray()

    def event(self, event: wire.Event) -> None:
        self._ready += wire.sse(event)

    async def flush(self) -> None:
        if self._ready:
            self._send(http.chunk(bytes(self._ready)))
            self._ready.clear()
            await self._writer.drain()

    async def finish(self) -> None:
        await self.flush()
        self._send(http.chunk(b""))
        await self._writer.drain()

    async def malformed(self) -> None:
        self._ready += b'event: content_block_delta\ndata: {"type": "content_blo\n\n'
        await self.finish()

    async def overloaded(self) -> None:
        self.event(wire.Event("error", OVERLOADED))
        await self.finish()

    def _send(self, data: bytes) -> None:
        if self._fate.status is None:
            self._fate.status = 200
            data = http.stream_head(self._headers) + data
        self._writer.write(data)


class Whole(Outlet):
    def __init__(
        self, writer: asyncio.StreamWriter, fate: Fate, headers: Mapping[str, str]
    ) -> None:
        super().__init__(writer, fate, headers)
        self._events: list[wire.Event] = []

    def event(self, event: wire.Event) -> None:
        self._events.append(event)

    async def flush(self) -> None:
        pass

    async def finish(self) -> None:
        await self.reply(200, wire.whole(self._events))

    async def malformed(self) -> None:
        await self.reply(200, b'{"type": "message", "conte')

    async def overloaded(self) -> None:
        await self.reply(529, OVERLOADED)
