"""Out of the log: history and then live, with no gap and no repeat."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.feed import Item
from claude_sessions.history import PAGE
from tests.log.words import DEADLINE, delta, log_in, read_to, said, soon, take, until


def seqs(items: list[Item]) -> list[int]:
    return [item.seq for item in items if isinstance(item, e.Event)]


async def test_no_gap_and_no_repeat_for_those_who_join_while_others_write(log: EventLog) -> None:
    """Joining after reading loses what came between; reading past the joint repeats it."""
    chance = random.Random(4)
    writers, each, joiners = 10, 300, 40
    old = 2 * PAGE + 7
    last = old + writers * each
    await log.append(*(said("old", f"s{n % writers}") for n in range(old)))

    async def write(session: str) -> None:
        for n in range(each):
            await log.append(said(str(n), session))

    async def follow(start: int, after: int) -> list[int]:
        await until(lambda: log.head >= start)
        async with log.follow(after=after) as feed:
            return seqs(await read_to(feed, last))

    starts = [chance.randrange(old, last - 200) for _ in range(joiners)]
    places = [chance.choice([0, start - 1, chance.randrange(start)]) for start in starts]
    async with asyncio.TaskGroup() as group:
        readers = [
            group.create_task(follow(start, after))
            for start, after in zip(starts, places, strict=True)
        ]
        for n in range(writers):
            group.create_task(write(f"s{n}"))
    for reader, after in zip(readers, places, strict=True):
        assert reader.result() == list(range(after + 1, last + 1))


async def test_a_feed_of_one_session_gets_that_session_whole(log: EventLog) -> None:
    async def write(session: str) -> None:
        for n in range(200):
            await log.append(said(str(n), session))

    async def follow(session: str, start: int) -> list[Item]:
        await until(lambda: log.head >= start)
        async with log.follow(after=0, session=session) as feed:
            return await take(feed, 200)

    async with asyncio.TaskGroup() as group:
        readers = [group.create_task(follow(f"s{n % 4}", n * 35)) for n in range(20)]
        for n in range(4):
            group.create_task(write(f"s{n}"))
    for n, reader in enumerate(readers):
        events = [item for item in reader.result() if isinstance(item, e.Event)]
        assert {event.session for event in events} == {f"s{n % 4}"}
        assert [event.session_seq for event in events] == list(range(1, 201))


async def test_from_now_means_from_the_call(log: EventLog) -> None:
    await log.append(said("before"))
    feed = log.follow()
    await log.append(said("between"))
    async with feed:
        await log.append(said("after"))
        assert seqs(await take(feed, 2)) == [2, 3]


async def test_a_place_ahead_of_the_log_is_waited_for(log: EventLog) -> None:
    async with log.follow(after=2) as feed:
        await log.append(said("1"), said("2"), said("3"))
        assert seqs(await take(feed, 1)) == [3]


async def test_two_feeds_do_not_touch_each_other(log: EventLog) -> None:
    async with log.follow() as first, log.follow() as second:
        await log.append(said("1"))
        assert seqs(await take(first, 1)) == [1]
        first.close()
        await log.append(said("2"))
        assert seqs(await take(second, 2)) == [1, 2]
        with pytest.raises(StopAsyncIteration):
            await anext(first)


async def test_a_reader_that_waits_is_released_by_close(log: EventLog) -> None:
    async with log.follow() as feed:
        waiting = asyncio.create_task(read_to(feed, 1))
        await asyncio.sleep(0)
        feed.close()
        assert await soon(waiting) == []


async def test_waiting_can_be_given_up_at_any_moment_without_loss(log: EventLog) -> None:
    chance = random.Random(7)
    old, new = PAGE + 50, 50
    await log.append(*(said("old") for _ in range(old)))
    got: list[Item] = []
    async with log.follow(after=0) as feed:
        writing = [asyncio.create_task(log.append(said("new"))) for _ in range(new)]
        while len(got) < old + new:
            reading = asyncio.ensure_future(anext(feed))
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            reading.cancel()
            await asyncio.wait([reading])
            got += [await soon(anext(feed)) if reading.cancelled() else reading.result()]
        await asyncio.gather(*writing)
    assert seqs(got) == list(range(1, old + new + 1))


async def test_one_who_falls_behind_loses_no_event_and_nobody_waits(tmp_path: Path) -> None:
    async with (
        log_in(tmp_path, feed_bound=50) as log,
        log.follow(after=0) as slow,
        log.follow(after=0) as fast,
    ):
        reading = asyncio.create_task(read_to(fast, 1000))
        for _ in range(100):
            await soon(log.append(*(said("x") for _ in range(10))))
        assert seqs(await read_to(slow, 1000)) == list(range(1, 1001))
        assert seqs(await soon(reading)) == list(range(1, 1001))
        await log.append(said("live again"))
        assert seqs(await take(slow, 1)) == [1001]


async def test_one_who_falls_behind_in_the_middle_of_history_goes_on(tmp_path: Path) -> None:
    async with log_in(tmp_path, feed_bound=20) as log:
        await log.append(*(said("old") for _ in range(PAGE + 100)))
        async with log.follow(after=0) as feed:
            begun = seqs(await take(feed, 10))
            for _ in range(5):
                await log.append(*(said("new") for _ in range(10)))
            rest = seqs(await read_to(feed, log.head))
        assert begun + rest == list(range(1, PAGE + 151))


async def test_a_log_that_closes_lets_its_readers_finish(tmp_path: Path) -> None:
    async with log_in(tmp_path) as log:
        await log.append(said("1"), said("2"))
        feed = await log.follow(after=0).__aenter__()
        await log.append(said("3"))
    assert seqs([item async for item in feed]) == [1, 2, 3]


async def test_one_who_had_fallen_behind_when_the_log_closed_finishes_too(tmp_path: Path) -> None:
    async with log_in(tmp_path, feed_bound=2) as log:
        feed = await log.follow(after=0).__aenter__()
        await log.append(*(said("x") for _ in range(5)))
    async with asyncio.timeout(DEADLINE):
        assert seqs([item async for item in feed]) == [1, 2, 3, 4, 5]


async def test_signals_reach_only_those_who_want_them(log: EventLog) -> None:
    async with (
        log.follow() as plain,
        log.follow(signals=True) as everything,
        log.follow(session="s2", signals=True) as other,
    ):
        await log.append(said("1"))
        log.signal(delta("a", 0))
        await log.append(said("2", "s2"))
        assert seqs(await take(plain, 2)) == [1, 2]
        kinds = [type(item) for item in await take(everything, 3)]
        assert kinds == [e.Event, e.AssistantDelta, e.Event]
        assert seqs(await take(other, 1)) == [2]
