"""A client of the Messages API that shows the bare bytes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import orjson

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def post(
    prompt: str, *, path: str = "/v1/messages?beta=true", stream: bool = True, method: str = "POST"
) -> bytes:
    body = orjson.dumps(
        {
            "model": "m",
            "max_tokens": 32000,
            "stream": stream,
            "messages": [{"role": "user", "content": prompt}],
        }
    )
    return f"{method} {path} HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


async def read_head(reader: asyncio.StreamReader) -> str:
    return (await reader.readuntil(b"\r\n\r\n")).decode().lower()


async def read_plain(reader: asyncio.StreamReader) -> tuple[int, dict[str, object]]:
    head = await read_head(reader)
    length = int(head.split("content-length: ")[1].split("\r\n")[0])
    payload: dict[str, object] = orjson.loads(await reader.readexactly(length))
    return int(head.split()[1]), payload


async def read_stream(reader: asyncio.StreamReader) -> str:
    """The events of a chunked answer, to its end."""
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body.decode()
