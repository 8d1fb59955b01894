"""As much of HTTP/1.1 as a Bot API client speaks: keep-alive, lengths, chunks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import unquote

LONGEST_HEAD = 64 * 1024
LONGEST_BODY = 64 * 1024 * 1024
"""Telegram takes 50 MB; the refusal of more is the method's to give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    path: str
    content_type: str
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int = 200
    body: bytes = field(default=b"", repr=False)
    content_type: str = "application/json"

    def encoded(self, at: float) -> bytes:
        head = (
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\n"
            f"Date: {formatdate(at, usegmt=True)}\r\n"
            f"Content-Type: {self.content_type}\r\n"
            f"Content-Length: {len(self.body)}\r\n"
            "Connection: keep-alive\r\n\r\n"
        )
        return head.encode() + self.body


Answer = Callable[[Request], Awaitable[Response | None]]
"""None closes the connection without a word."""


class Listener:
    def __init__(self, answer: Answer, *, now: Callable[[], float]) -> None:
        self._answer = answer
        self._now = now
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._server: asyncio.Server | None = None
        self.failures: list[Exception] = []
        """What went wrong in the stand-in itself; to the client it looks like a lost connection."""
        self.port = 0

    async def open(self) -> None:
        """Where it has been open before, it opens on the same port."""
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, limit=LONGEST_HEAD
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is None:
            return
        server, self._server = self._server, None
        server.close()
        connections = dict(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        for writer in connections.values():
            writer.transport.abort()
        await asyncio.gather(
            *(writer.wait_closed() for writer in connections.values()), return_exceptions=True
        )
        await server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None:  # accepted while we were closing
            writer.transport.abort()
            return
        connection = asyncio.create_task(self._serve(reader, writer), name="botapi connection")
        self._connections[connection] = writer
        connection.add_done_callback(self._ended)

    def _ended(self, connection: asyncio.Task[None]) -> None:
        """Not in the task itself: one cancelled before its first step never gets that far."""
        self._connections.pop(connection).transport.abort()
        failure = None if connection.cancelled() else connection.exception()
        if isinstance(failure, Exception):
            self.failures.append(failure)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):  # the client has gone
            await self._converse(reader, writer)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            response = await self._answer(await read_request(reader))
            if response is None:
                return
            writer.write(response.encoded(self._now()))
            await writer.drain()


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.split("\r\n")
    headers = {}
    for each in fields:
        name, _, value = each.partition(":")
        headers[name.lower()] = value.strip()
    body = await read_body(reader, headers)
    path = unquote(line.split(" ")[1])
    return Request(path=path, content_type=headers.get("content-type", ""), body=body)


async def read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await read_chunks(reader)
    length = int(headers.get("content-length") or 0)
    if length > LONGEST_BODY:
        raise ConnectionError(f"A request of {length} bytes is more than we take")
    return await reader.readexactly(length) if length else b""


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readline()).partition(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readline()
    return bytes(body)
