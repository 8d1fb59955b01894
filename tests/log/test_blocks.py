"""One who joins in the middle of a block first gets what it has so far."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Reason, Status
from tests.log.words import delta, happened, log_in, said, take

CLOSINGS: list[e.Payload] = [
    e.AssistantMessage(text="Hello", block="b1"),
    e.TurnCompleted(),
    e.TurnInterrupted(reason=Reason.USER, partial_text="Hello"),
    e.SessionAsleep(reason=Reason.IDLE),
    e.SessionEnded(status=Status.KILLED, reason=Reason.USER),
]


async def test_a_joiner_gets_history_then_the_open_block_then_what_follows(log: EventLog) -> None:
    await log.append(said("earlier"))
    log.signal(delta("Hel", 0))
    log.signal(delta("lo", 3))
    async with log.follow(after=0, signals=True) as feed:
        log.signal(delta(" you", 5))
        (event, so_far, live) = await take(feed, 3)
    assert isinstance(event, e.Event)
    assert so_far == delta("Hello", 0)
    assert live == delta(" you", 5)


async def test_each_open_block_of_each_session_is_handed_over(log: EventLog) -> None:
    thought = e.ThinkingDelta(session="s2", turn="t9", block="b7", offset=0, text="hm")
    log.signal(delta("one", 0, "b1"))
    log.signal(delta("two", 0, "b2"))
    log.signal(thought)
    async with log.follow(signals=True) as feed:
        assert await take(feed, 3) == [delta("one", 0, "b1"), delta("two", 0, "b2"), thought]
    async with log.follow(session="s2", signals=True) as feed:
        assert await take(feed, 1) == [thought]
    assert log.open_text("s1") == "one\n\ntwo"
    assert log.open_text("s2") == ""  # thoughts are not what was said


@pytest.mark.parametrize("closing", CLOSINGS, ids=lambda payload: payload.TYPE)
async def test_what_supersedes_a_block_closes_it(log: EventLog, closing: e.Payload) -> None:
    log.signal(delta("Hello", 0))
    await log.append(happened(closing, "s2"))
    assert log.open_text("s1") == "Hello"
    await log.append(happened(closing, "s1"))
    assert log.open_text("s1") == ""
    async with log.follow(signals=True) as feed:
        await log.append(said("next"))
        (first,) = await take(feed, 1)
        assert isinstance(first, e.Event)


async def test_another_block_of_the_session_stays_open(log: EventLog) -> None:
    log.signal(delta("one", 0, "b1"))
    log.signal(delta("two", 0, "b2"))
    await log.append(said("one", block="b1"))
    assert log.open_text("s1") == "two"


async def test_a_block_that_starts_again_is_what_it_was_told_last(log: EventLog) -> None:
    log.signal(delta("Hello", 0))
    log.signal(delta("p", 3))
    assert log.open_text("s1") == "Help"
    log.signal(delta("a hole before it", 9))
    assert log.open_text("s1") == "Help"


async def test_one_who_fell_behind_gets_the_open_block_again(tmp_path: Path) -> None:
    async with log_in(tmp_path, feed_bound=3) as log, log.follow(signals=True) as feed:
        log.signal(delta("a", 0))
        assert await take(feed, 1) == [delta("a", 0)]
        for offset, letter in enumerate("bcdefg", 1):
            log.signal(delta(letter, offset))
        await log.append(said("an event", "s2"))
        event, again = await take(feed, 2)
        assert isinstance(event, e.Event)
        assert again == delta("abcdefg", 0)
        log.signal(delta("h", 7))
        assert await take(feed, 1) == [delta("h", 7)]
