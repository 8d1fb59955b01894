"""How a stream of events treats its connection: silence, slowness, what it costs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message

from claude_sessions import events as e
from claude_sessions.clock import SystemClock
from claude_sessions.eventlog import EventLog
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.patience import ABORT
from claude_sessions.gateway.sse import CHUNK, frame, packed
from claude_sessions.gateway.streaming import EventStream, Pace, Tongue
from claude_sessions.gateway.visits import Visits
from claude_sessions.gateway.wire import as_json
from claude_sessions.model import Role
from tests.waiting import eventually

VISITOR = Visitor(name="somebody", role=Role.VIEWER)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with EventLog(tmp_path / "log.sqlite", runner="runner01") as log:
        yield log


class Connection:
    """Our own end of a server: what is sent is kept; it may stop taking anything."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.takes = asyncio.Event()
        self.takes.set()
        self.gone = asyncio.Event()
        self.aborted = False

    @property
    def scope(self) -> dict[str, Any]:
        return {"type": "http", "method": "GET", "state": {ABORT: self.abort}}

    @property
    def text(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    async def send(self, message: Message) -> None:
        await self.takes.wait()
        self.sent.append(message)

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    def abort(self) -> None:
        self.aborted = True
        self.gone.set()
        self.takes.set()


def serving(log: EventLog, connection: Connection, pace: Pace) -> asyncio.Task[None]:
    tongue = Tongue(form=lambda item: frame(as_json(item)), opening=b": hello\n\n")
    stream = EventStream(Visits(SystemClock()), VISITOR, log.follow(0), tongue, pace)
    return asyncio.create_task(stream(connection.scope, connection.receive, connection.send))


async def test_a_silent_stream_says_now_and_then_that_it_is_there(log: EventLog) -> None:
    connection = Connection()
    task = serving(log, connection, Pace(keep_alive=0.01))
    await eventually(lambda: connection.text.count(b": keep-alive\n\n") >= 3)
    connection.gone.set()
    await task
    assert not connection.aborted


async def test_a_reader_that_takes_nothing_is_cut_off(log: EventLog) -> None:
    connection = Connection()
    task = serving(log, connection, Pace(slow=0.05))
    await eventually(lambda: b"hello" in connection.text)
    connection.takes.clear()
    await log.append(e.Draft(payload=e.RunnerStarted()))
    async with asyncio.timeout(10):
        await task
    assert connection.aborted


async def test_much_history_is_sent_in_large_pieces(log: EventLog) -> None:
    await log.append(*(e.Draft(payload=e.RunnerStarted(version=f"{n:100}")) for n in range(1000)))
    connection = Connection()
    task = serving(log, connection, Pace())
    await eventually(lambda: connection.text.count(b"data:") == 1000)
    pieces = [message for message in connection.sent if message.get("body")]
    assert len(pieces) < 50
    connection.gone.set()
    await task


async def test_who_leaves_in_the_middle_of_history_is_not_told_the_rest(log: EventLog) -> None:
    await log.append(*(e.Draft(payload=e.RunnerStarted(version=f"{n:900}")) for n in range(3000)))
    connection = Connection()
    task = serving(log, connection, Pace())
    await eventually(lambda: b"data:" in connection.text)
    connection.takes.clear()
    connection.gone.set()
    await asyncio.sleep(0)
    connection.takes.set()
    await task
    assert connection.text.count(b"data:") < 3000


def test_pieces_have_whole_events_and_a_bounded_size() -> None:
    frames = [b"x" * size for size in (10, CHUNK, 5, CHUNK - 5, 7)]
    pieces = list(packed(frames))
    assert b"".join(pieces) == b"".join(frames)
    assert [len(piece) for piece in pieces] == [10 + CHUNK, CHUNK, 7]
