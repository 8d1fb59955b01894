"""Pings on a WebSocket: who does not answer is not waited for, and only who does not answer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected
from websockets.asyncio.client import ClientConnection, connect

from claude_sessions.gateway.patience import AHEAD, LEAVING_SECONDS, Impatient
from claude_sessions.gateway.server import Server
from claude_sessions.gateway.sockets import CODES
from claude_sessions.gateway.visits import Over
from tests.waiting import eventually

PING = 0.2
LONG = 4 * PING  # for a ping to be sent and its answer to be missed
MUCH = 32 * 1024 * 1024
GOODBYE = CODES[Over.SLOW].to_bytes(2, "big") + Over.SLOW.encode()
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


EMPTY = b"\x81\x80\0\0\0\0"
PINGS = b"\x89\xe4\0\0\0\0".ljust(106, b"x") * 1000
LAST_PING = b"\x89\x84\0\0\0\0last"


def protocol_of(receive: Receive) -> Impatient:
    protocol = getattr(receive, "__self__", None)
    assert isinstance(protocol, Impatient)
    return protocol


async def _accepted(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.accept"})


async def thoughtful(_scope: Scope, receive: Receive, send: Send) -> None:
    """Takes a message at a time, and its time over the first."""
    await _accepted(receive, send)
    while (message := await receive())["type"] == "websocket.receive":
        await asyncio.sleep(LONG if message["text"] == "first" else 0)
        await send({"type": "websocket.send", "text": message["text"]})


async def silent(_scope: Scope, receive: Receive, send: Send) -> None:
    await _accepted(receive, send)
    await receive()


async def talkative(_scope: Scope, receive: Receive, send: Send) -> None:
    """Says more than a connection holds, and that it was too much."""
    await _accepted(receive, send)
    await send({"type": "websocket.send", "bytes": b"x" * MUCH})
    await send({"type": "websocket.close", "code": CODES[Over.SLOW], "reason": Over.SLOW})


@asynccontextmanager
async def serving(app: ASGIApp, pings: float | None = PING) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app,
            ws=Impatient,
            lifespan="off",
            log_config=None,
            ws_ping_interval=pings,
            ws_ping_timeout=pings,
        )
        server = Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await task


@asynccontextmanager
async def talking(app: ASGIApp, pings: float | None = None) -> AsyncIterator[ClientConnection]:
    async with (
        serving(app) as url,
        connect(url, proxy=None, ping_interval=pings, ping_timeout=pings) as connection,
    ):
        yield connection


@pytest.mark.parametrize(("size", "pings"), [(1, PING), (AHEAD // 10, None)])
async def test_what_waits_behind_something_long_does_not_pass_for_silence(
    size: int, pings: float | None
) -> None:
    """Little: pings go both ways all the time. Much: we do not read, and know that we do not."""
    said = ["first", *(f"{n}" * size for n in range(10, 99))]
    async with talking(thoughtful, pings) as connection:
        for each in said:
            await connection.send(each)
        assert [await connection.recv() for _ in said] == said


@asynccontextmanager
async def raw(
    app: ASGIApp, pings: float | None = PING
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """One that answers nothing."""
    async with serving(app, pings) as url:
        reader, writer = await asyncio.open_connection(*url.removeprefix("ws://").split(":"))
        writer.write(UPGRADE)
        yield reader, writer
        writer.close()


async def test_one_who_answers_no_ping_is_told_to_come_back() -> None:
    async with raw(silent) as (reader, _), asyncio.timeout(20):
        assert (await reader.read()).endswith(GOODBYE)


async def test_one_who_reads_nothing_at_all_is_given_up_at_once() -> None:
    """Whoever talks to it hears of that long before the last words are taken, and says no more."""
    given_up = asyncio.get_running_loop().create_future()

    async def talks_on(_scope: Scope, receive: Receive, send: Send) -> None:
        await _accepted(receive, send)
        await send({"type": "websocket.send", "bytes": b"x" * MUCH})
        message = await receive()
        with pytest.raises(ClientDisconnected):
            await send({"type": "websocket.send", "text": "more"})
        given_up.set_result(message)

    async with raw(talks_on), asyncio.timeout(LEAVING_SECONDS):
        assert await given_up == {"type": "websocket.disconnect", "code": 1013}


async def test_what_says_nothing_is_not_read_ahead_without_end() -> None:
    paused = asyncio.get_running_loop().create_future()

    async def busy(_scope: Scope, receive: Receive, send: Send) -> None:
        await _accepted(receive, send)
        protocol = protocol_of(receive)
        await eventually(lambda: protocol.read_paused)
        paused.set_result(None)

    async with raw(busy) as (reader, writer), asyncio.timeout(20):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(EMPTY * AHEAD)
        await paused


async def test_of_many_pings_that_come_while_nothing_is_taken_the_last_are_answered() -> None:
    protocols: list[Impatient] = []

    async def listens(_scope: Scope, receive: Receive, send: Send) -> None:
        await _accepted(receive, send)
        protocols.append(protocol_of(receive))
        await receive()

    async with raw(listens, pings=None) as (reader, writer), asyncio.timeout(20):
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(MUCH // len(PINGS)):
            writer.write(PINGS)
            await writer.drain()
        writer.write(LAST_PING)
        assert protocols[0].transport.get_write_buffer_size() < AHEAD
        tail = b""
        while LAST_PING[-4:] not in tail:
            tail = tail[-4:] + await reader.read(AHEAD)


async def test_one_who_is_slow_has_the_time_to_read_why_it_is_cut() -> None:
    async with raw(talkative) as (reader, _), asyncio.timeout(20):
        await asyncio.sleep(LEAVING_SECONDS + 1)
        assert (await reader.read()).endswith(GOODBYE)


async def test_one_who_answers_pings_may_be_silent_for_ever() -> None:
    async with talking(silent) as connection:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(connection.recv(), LONG)
