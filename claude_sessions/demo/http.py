"""As much of HTTP/1.1 as one client behind loopback needs: calls in, answers out."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import responses

import orjson


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


async def read_call(reader: asyncio.StreamReader) -> Call | None:
    """The next call on a connection; None when the client has gone."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = dict(header(line) for line in head[1:] if line)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Call(method=method, path=target.partition("?")[0], headers=headers, body=body)


def header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


def head(status: int, headers: Mapping[str, str]) -> bytes:
    phrase = responses.get(status, "Overloaded")
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def plain(status: int, payload: object, headers: Mapping[str, str] | None = None) -> bytes:
    body = payload if isinstance(payload, bytes) else orjson.dumps(payload)
    own = {"content-type": "application/json", "content-length": str(len(body))}
    return head(status, own | dict(headers or {})) + body


def stream_head(headers: Mapping[str, str]) -> bytes:
    own = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
    return head(200, own | dict(headers))


def chunk(data: bytes) -> bytes:
    """One piece of a chunked body; the empty one ends it."""
    return b"%x\r\n%b\r\n" % (len(data), data)
