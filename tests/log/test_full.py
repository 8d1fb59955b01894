"""The disk is full: new work is refused, running turns lose nothing, people are told."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from claude_sessions import events as e
from claude_sessions.errors import StorageFull
from claude_sessions.eventlog import EventLog
from tests.disk import no_file_longer_than
from tests.log.words import log_in, said, soon, take, texts, until

PAGES = 60
PLENTY = 1_000_000
LARGE = "x" * 20_000  # stored as it is: below the size of a blob


async def fill(log: EventLog) -> int:
    """Until there is no room; gives back how many fitted."""
    for count in itertools.count():
        try:
            await soon(log.append(said(LARGE, "filler")))
        except StorageFull:
            return count
    raise AssertionError


def make_room(log: EventLog) -> None:
    log.store.allow_pages(PLENTY)
    log.retry()


async def trouble_of(log: EventLog) -> None:
    await fill(log)
    assert log.trouble is not None


async def test_new_work_is_refused_with_what_to_do_and_nothing_of_it_remains(
    tmp_path: Path,
) -> None:
    async with log_in(tmp_path, max_pages=PAGES) as log:
        count = await fill(log)
        with pytest.raises(StorageFull, match="make room on it, then try again"):
            await log.append(said("small", "s1"))
        with pytest.raises(StorageFull):
            await log.append(said(LARGE, "s1"), said(LARGE, "s1"))
        assert len(await log.events()) == log.head == count


async def test_what_is_held_is_written_in_order_when_there_is_room(tmp_path: Path) -> None:
    async with log_in(tmp_path, max_pages=PAGES, retry_seconds=3600) as log:
        await trouble_of(log)
        before = log.head
        held: list[asyncio.Task[list[e.Event]]] = []
        for n in range(5):  # one after the other: each has been tried by itself
            words = log.append(said(f"{n}", "s1"), said(LARGE, "s1"), hold=True)
            held.append(asyncio.create_task(words))
            await until(lambda: len(log._writer._held) == len(held))
        assert not any(task.done() for task in held)
        make_room(log)
        written = [event for events in await soon(asyncio.gather(*held)) for event in events]
        assert [event.seq for event in written] == list(range(before + 1, before + 11))
        assert [event.session_seq for event in written] == list(range(1, 11))
        assert texts(written)[::2] == ["0", "1", "2", "3", "4"]
        assert await log.events(after=before) == written
        assert log.trouble is None
        await log.append(said("new work again"))


async def test_it_tries_again_by_itself(tmp_path: Path) -> None:
    async with log_in(tmp_path, max_pages=PAGES, retry_seconds=0.01) as log:
        await trouble_of(log)
        held = asyncio.create_task(log.append(said("late", "s1"), hold=True))
        log.store.allow_pages(PLENTY)
        assert texts(await soon(held)) == ["late"]
        await until(lambda: log.trouble is None)


async def test_everyone_who_listens_is_told_when_it_begins_and_ends(tmp_path: Path) -> None:
    async with (
        log_in(tmp_path, max_pages=PAGES) as log,
        log.follow(session="s1", signals=True) as one,
        log.follow(signals=True) as everyone,
        log.follow(session="s1") as events_only,
    ):
        count = await fill(log)
        make_room(log)
        began, ended = await take(one, 2)
        assert isinstance(began, e.StorageTrouble)
        assert isinstance(ended, e.StorageTrouble)
        assert began.message == "Nothing new can be stored: the disk is full; make room on it."
        assert ended.message == "There is room again, and everything that waited is stored."
        assert (await take(everyone, count + 2))[-2:] == [began, ended]
        await log.append(said("first", "s1"))
        (first,) = await take(events_only, 1)
        assert isinstance(first, e.Event)


async def test_in_a_shared_commit_the_held_are_kept_and_the_others_refused(tmp_path: Path) -> None:
    async with log_in(tmp_path, max_pages=PAGES, retry_seconds=3600) as log:
        held = asyncio.gather(*(log.append(said(LARGE * 3, "s1"), hold=True) for _ in range(5)))
        new = asyncio.gather(*(log.append(said(f"{n}", "s2")) for n in range(3)), said_last(log))
        with pytest.raises(StorageFull):
            await soon(new)
        assert log.head == 0
        make_room(log)
        assert len(await soon(held)) == 5
        assert [event.session for event in await log.events()] == ["s1"] * 5


async def said_last(log: EventLog) -> None:
    await log.append(said("last", "s2"))


async def test_one_request_too_large_does_not_stop_the_small_ones(tmp_path: Path) -> None:
    async with log_in(tmp_path, max_pages=PAGES) as log:
        with pytest.raises(StorageFull):
            await soon(log.append(*(said(LARGE, "s1") for _ in range(20))))
        assert log.trouble is None
        await soon(log.append(said("small", "s1")))
        assert log.head == 1


async def test_what_is_held_has_a_bound(tmp_path: Path) -> None:
    async with log_in(tmp_path, max_pages=PAGES, hold_bytes=50_000, retry_seconds=3600) as log:
        await trouble_of(log)
        held = [asyncio.create_task(log.append(said(LARGE, "s1"), hold=True)) for _ in range(3)]
        with pytest.raises(StorageFull):
            await soon(held[2])
        make_room(log)
        await soon(asyncio.gather(*held[:2]))
        assert len(await log.events("s1")) == 2


async def test_closing_in_trouble_ends_and_says_how_much_was_lost(tmp_path: Path) -> None:
    with capture_logs() as lines:
        async with log_in(tmp_path, max_pages=PAGES, retry_seconds=3600) as log:
            count = await fill(log)
            words = [said(LARGE) for _ in range(9)]
            held = asyncio.create_task(log.append(*words, hold=True))
            await until(lambda: log._unwritten)
        with pytest.raises(StorageFull, match="closed before this was stored"):
            await soon(held)
    assert {"events": 9, "event": "log.lost"}.items() <= lines[-1].items()
    async with log_in(tmp_path) as again:
        assert again.head == count


async def test_closing_tries_once_more(tmp_path: Path) -> None:
    async with log_in(tmp_path, max_pages=PAGES, retry_seconds=3600) as log:
        await trouble_of(log)
        held = asyncio.create_task(log.append(said(LARGE, "s1"), hold=True))
        await until(lambda: log._unwritten)
        log.store.allow_pages(PLENTY)
    assert texts(await soon(held)) == [LARGE]


async def test_a_write_that_the_system_refuses_is_trouble_and_passes(tmp_path: Path) -> None:
    async with log_in(tmp_path, retry_seconds=3600) as log:
        await log.append(said("before"))
        with no_file_longer_than((tmp_path / "log.sqlite-wal").stat().st_size):
            with pytest.raises(StorageFull):
                await soon(log.append(said(LARGE)))
            held = asyncio.create_task(log.append(said("held"), hold=True))
            await until(lambda: log._unwritten)
            assert log.trouble is not None
        log.retry()
        await soon(held)
        assert texts(await log.events()) == ["before", "held"]
        await log.append(said("after"))
        with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
