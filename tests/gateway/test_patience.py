"""Pings on a WebSocket: who does not answer is not waited for, and only who does not answer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected
from websockets.asyncio.client import ClientConnection, connect

from claude_sessions.gateway.patience import AHEAD, LEAVING_SECONDS, PIECE, Impatient, Patient
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
async def serving(
    app: ASGIApp,
    http: type[Patient] = Patient,
    ws: type[Impatient] = Impatient,
    pings: float | None = PING,
) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        config = uvicorn.Config(
            app,
            http=http,
            ws=ws,
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
    async with serving(app, pings=pings) as url:
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


FLOOD = 100_000
CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
BEGUN, ON, TEXT, ASKED = 0x01, 0x00, 0x81, 0x89  # kinds of frames


def frame(kind: int, text: bytes = b"") -> bytes:
    return bytes([kind, 0x80 | len(text), 0, 0, 0, 0]) + text


async def attentive(scope: Scope, receive: Receive, send: Send) -> None:
    """Hears all there is and says nothing."""
    if scope["type"] == "websocket":
        await _accepted(receive, send)
    while "disconnect" not in (await receive())["type"]:
        pass


async def generous(_scope: Scope, _receive: Receive, send: Send) -> None:
    headers = [(b"content-length", b"%d" % MUCH)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"x" * MUCH})


@asynccontextmanager
async def pouring(
    app: ASGIApp, first: bytes, http: type[Patient] = Patient, ws: type[Impatient] = Impatient
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with serving(app, http, ws, pings=None) as url:
        host, port = url.removeprefix("ws://").split(":")
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        client.connect((host, int(port)))
        reader, writer = await asyncio.open_connection(sock=client)
        writer.transport.set_write_buffer_limits(0)
        writer.write(first)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def poured(writer: asyncio.StreamWriter, what: bytes) -> None:
    writer.write(what)
    await writer.drain()
    await asyncio.sleep(PING)


async def poured_for_ever(writer: asyncio.StreamWriter, what: bytes) -> None:
    while True:
        await poured(writer, what)


@dataclass
class Watched:
    """How a connection was read."""

    pieces: list[int] = field(default_factory=list)
    rested: bool = False

    @property
    def considerate(self) -> bool:
        later = self.pieces[1:]  # the first is there before we know
        return sum(later) > FLOOD and max(later) <= PIECE and self.rested


def watched(seen: Watched) -> tuple[type[Patient], type[Impatient]]:
    class Request(Patient):
        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            seen.pieces.append(len(data))
            seen.rested |= not self.transport.is_reading()

    class Socket(Impatient):
        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            seen.pieces.append(len(data))
            seen.rested |= not self.transport.is_reading()

    return Request, Socket


@pytest.mark.parametrize(
    ("begun", "each"),
    [(b"", frame(ASKED)), (b"", frame(TEXT)), (frame(BEGUN), frame(ON))],
    ids=["pings", "texts", "fragments"],
)
async def test_who_asks_much_with_few_bytes_leaves_others_their_turn(
    begun: bytes, each: bytes
) -> None:
    seen = Watched()
    async with pouring(attentive, UPGRADE, *watched(seen)) as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(begun + each * FLOOD)
        await eventually(lambda: seen.considerate)


async def test_a_body_in_the_smallest_of_chunks_leaves_others_their_turn() -> None:
    seen = Watched()
    async with pouring(attentive, CHUNKED, *watched(seen)) as (_, writer):
        writer.write(b"1\r\nx\r\n" * FLOOD)
        await eventually(lambda: seen.considerate)


class Hasty(Patient):
    slow_seconds = PING


@pytest.mark.parametrize(
    "asked", [GET, GET * 2, GET.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)]
)
async def test_one_who_takes_nothing_of_an_answer_is_cut_off(asked: bytes) -> None:
    async with pouring(generous, asked, Hasty) as (_, writer), asyncio.timeout(20):
        with pytest.raises(ConnectionError):
            await poured_for_ever(writer, b"\r\n")


async def test_one_who_takes_an_answer_slowly_gets_it_whole() -> None:
    async with pouring(generous, GET, Hasty) as (reader, _), asyncio.timeout(60):
        for _ in range(20):
            await reader.readexactly(MUCH // 20)
            await asyncio.sleep(PING / 2)
