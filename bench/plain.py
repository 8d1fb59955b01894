"""What the gateway is held against: Starlette with nothing behind it, in a process of its own.

`python -m bench.plain FILE EVENTS`: one route gives the file's bytes, one streams them so often,
one says hello and then nothing.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

STREAM = "text/event-stream"
CHUNK = 64 * 1024


def app(body: bytes, event: bytes, count: int) -> Starlette:
    async def same(request: Request) -> Response:
        await request.body()
        return Response(body, media_type="application/json")

    async def stream(_request: Request) -> Response:
        return StreamingResponse(_often(event, count), media_type=STREAM)

    async def idle(_request: Request) -> Response:
        return StreamingResponse(_silent(), media_type=STREAM)

    routes = [Route("/same", same, methods=["POST"])]
    return Starlette(routes=[*routes, Route("/stream", stream), Route("/idle", idle)])


async def _often(event: bytes, count: int) -> AsyncIterator[bytes]:
    at_once = max(1, CHUNK // len(event))
    for begun in range(0, count, at_once):
        yield event * min(at_once, count - begun)


async def _silent() -> AsyncIterator[bytes]:
    yield b": hello\n\n"
    await asyncio.Event().wait()


async def main(file: str, events: str) -> None:
    body = Path(file).read_bytes()  # noqa: ASYNC240 - nobody waits yet
    event = b"event: assistant.message\nid: x\ndata: " + b"x" * 600 + b"\n\n"
    bare = app(body, event, int(events))
    server = uvicorn.Server(uvicorn.Config(bare, port=0, access_log=False, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - it has no event to give
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    sys.stdout.write(f"port {port}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)  # until whoever started it is done
    server.should_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
