"""The line for a process."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from claude_sessions import events as e
from claude_sessions.model import Reason
from claude_sessions.sessions.line import Line


def event(session: str, payload: e.Payload) -> e.Event:
    return e.Event(
        seq=1,
        epoch="e",
        session_seq=1,
        id="i",
        at=datetime.now(UTC),
        runner="r",
        project=None,
        session=session,
        run=None,
        turn=None,
        payload=payload,
    )


def lined_up(*sessions: str) -> Line:
    line = Line()
    for session in sessions:
        line.see(event(session, e.SessionQueued()))
    return line


async def stirs(line: Line) -> bool:
    try:
        async with asyncio.timeout(0):
            await line.stirred()
    except TimeoutError:
        return False
    return True


async def test_the_first_to_come_is_the_first() -> None:
    line = lined_up("a", "b", "c")
    assert (line.first(), line.place("b"), line.place("x")) == ("a", 2, 0)
    line.see(event("a", e.SessionWoken()))
    assert (line.first(), line.place("b")) == ("b", 1)


async def test_a_restart_keeps_the_order() -> None:
    line = Line()
    line.restore(["b", "a"])
    assert line.first() == "b"
    assert await stirs(line)


async def test_it_stirs_when_a_process_may_be_free_and_only_then() -> None:
    line = lined_up("a")
    assert await stirs(line)
    line.see(event("b", e.AssistantMessage(text="on and on")))
    assert not await stirs(line)
    line.see(event("b", e.TurnCompleted()))
    assert await stirs(line)


async def test_nobody_waits_nothing_stirs() -> None:
    line = Line()
    line.see(event("b", e.SessionAsleep(reason=Reason.IDLE)))
    assert not await stirs(line)
