"""Server-sent events as bytes. Pure.

Each event's data is one line, JSON, also for those who break lines wherever Unicode does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

CHUNK = 16 * 1024  # bytes that are sent in one piece, before others have their turn
KEEP_ALIVE = b": keep-alive\n\n"
BREAKS = [(mark.encode(), b"\\u%04x" % ord(mark)) for mark in "\x85\u2028\u2029"]
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy in front has to pass it on as it comes
]


def frame(data: bytes, *, name: str | None = None, id_: str | None = None) -> bytes:
    """Without a name a browser's `onmessage` gets it; without an id it is no place to resume."""
    event = b"event: %b\n" % name.encode() if name is not None else b""
    place = b"id: %b\n" % id_.encode() if id_ is not None else b""
    for mark, escaped in BREAKS:
        data = data.replace(mark, escaped)
    return b"%b%bdata: %b\n\n" % (event, place, data)


def packed(frames: Iterable[bytes]) -> Iterator[bytes]:
    parts: list[bytes] = []
    size = 0
    for each in frames:
        parts.append(each)
        size += len(each)
        if size >= CHUNK:
            yield b"".join(parts)
            parts, size = [], 0
    if size:
        yield b"".join(parts)
