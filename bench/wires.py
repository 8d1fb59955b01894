"""Clients that cost next to nothing: they note when bytes came, and are read afterwards."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bench.product import PATIENCE


@dataclass(slots=True, eq=False)
class Wire(asyncio.Protocol):
    """`heard`: when each piece came, in seconds since 1970, and what it was."""

    heard: list[tuple[float, bytes]] = field(default_factory=list)
    keep: bool = True
    transport: asyncio.Transport | None = None
    began: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.keep:
            self.heard.append((time.time(), data))
        self.began.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()

    def send(self, data: bytes) -> None:
        assert self.transport is not None
        self.transport.write(data)

    def close(self) -> None:
        assert self.transport is not None
        self.transport.abort()

    def when(self, word: bytes) -> float:
        """When it had been told this."""
        told = b""
        for at, piece in self.heard:
            told += piece
            if word in told:
                return at
            told = told[-len(word) :]
        raise LookupError(word)


async def asked(url: str, path: str, token: str, *, keep: bool = True) -> Wire:
    """A GET that is answered without end."""
    return await _opened(url, f"GET {path}", token, (), keep=keep)


async def subscribed(url: str, token: str, types: Sequence[str]) -> Wire:
    """To JSON-RPC on a WebSocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    wire = await _opened(url, "GET /rpc", token, (*upgrade, f"Sec-WebSocket-Key: {key}"))
    call = {"jsonrpc": "2.0", "id": 1, "method": "claude-code.subscribe"}
    wire.began.clear()
    wire.send(_frame(json.dumps({**call, "params": {"types": list(types)}}).encode()))
    async with asyncio.timeout(PATIENCE):
        await wire.began.wait()
    return wire


async def _opened(
    url: str, request: str, token: str, more: Sequence[str], *, keep: bool = True
) -> Wire:
    place = urlsplit(url)
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(PATIENCE):
        host, port = place.hostname or "", place.port or 0
        _, wire = await loop.create_connection(lambda: Wire(keep=keep), host, port)
        lines = [f"{request} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", *more]
        wire.send(("\r\n".join(lines) + "\r\n\r\n").encode())
        await wire.began.wait()
    return wire


def _frame(text: bytes) -> bytes:
    """A client's frames are masked; with zeros, they read the same."""
    length = (
        bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + struct.pack("!H", len(text))
    )
    return b"\x81" + length + b"\0\0\0\0" + text
