"""Bytes on a socket, for what no proper client would send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.gateway.port import Port

PATIENCE = 30.0


class Raw:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def rest(self) -> bytes:
        """All that comes until the other side hangs up."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionResetError:
                return b""


@asynccontextmanager
async def raw(port: Port) -> AsyncIterator[Raw]:
    host, _, number = port.url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(number))
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()
