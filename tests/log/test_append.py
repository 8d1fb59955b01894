"""Into the log: order, durability, and what those who append may rely on."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from claude_sessions import events as e
from claude_sessions.errors import Conflict, NotFound, SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Status
from tests.log.words import born, happened, log_in, said, soon, texts, until


async def test_when_append_returns_the_event_is_in_the_file_and_observed(log: EventLog) -> None:
    seen: list[e.Event] = []
    log.observe(seen.append)
    appended = await log.append(said("hello"), said("world"))
    assert seen == appended
    assert log.store.events(limit=10) == appended
    assert log.head == 2


async def test_observers_see_all_callers_events_strictly_in_order(log: EventLog) -> None:
    seen: list[int] = []
    log.observe(lambda event: seen.append(event.seq))

    async def write(session: str) -> None:
        for n in range(25):
            (event,) = await log.append(said(str(n), session))
            assert event.seq in seen

    await asyncio.gather(*(write(f"s{n}") for n in range(8)))
    assert seen == list(range(1, 201))


async def test_one_who_stops_observing_hears_no_more(log: EventLog) -> None:
    seen: list[e.Event] = []
    stop = log.observe(seen.append)
    await log.append(said("one"))
    stop()
    await log.append(said("two"))
    assert texts(seen) == ["one"]


async def test_those_who_append_at_the_same_time_share_a_commit(log: EventLog) -> None:
    rounds = 0
    settle = log._writer._report

    def count(report: object) -> None:
        nonlocal rounds
        rounds += 1
        settle(report)  # type: ignore[arg-type]

    log._writer._report = count
    await asyncio.gather(*(log.append(said(str(n))) for n in range(20)))
    assert rounds == 1


async def test_a_cancelled_caller_changes_nothing(log: EventLog) -> None:
    caller = asyncio.create_task(log.append(said("kept"), said("whole")))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await until(lambda: log.head == 2)
    assert texts(await log.events()) == ["kept", "whole"]


async def test_the_clock_is_the_one_that_was_given(tmp_path: Path) -> None:
    noon = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
    async with log_in(tmp_path, clock=lambda: noon) as log:
        (event,) = await log.append(said("now"))
        assert event.at == noon
        assert await log.events() == [event]


async def test_a_taken_name_is_the_callers_problem_alone(log: EventLog) -> None:
    outcomes = await asyncio.gather(
        log.append(born("s1", "fix")),
        log.append(born("s2", "fix"), said("never", "s2")),
        log.append(said("other", "s3")),
        return_exceptions=True,
    )
    assert isinstance(outcomes[1], Conflict)
    assert [event.seq for event in await log.events()] == [1, 2]
    assert await log.session_row("s2") is None


async def test_nothing_appended_is_nothing(log: EventLog) -> None:
    assert await log.append() == []


async def test_what_cannot_be_json_is_refused_before_it_reaches_the_writer(log: EventLog) -> None:
    with pytest.raises(TypeError):
        await log.append(happened(e.TurnCompleted(usage={"what": object()})))
    await log.append(said("lives on"))


async def test_a_closed_log_says_so(tmp_path: Path) -> None:
    async with log_in(tmp_path) as log:
        await log.append(said("x"))
    with pytest.raises(SessionsError, match="closed"):
        await log.append(said("y"))


async def test_what_was_queued_when_the_log_closes_is_written(tmp_path: Path) -> None:
    async with log_in(tmp_path) as log:
        last = asyncio.create_task(log.append(said("last words")))
        await asyncio.sleep(0)
    assert texts(await soon(last)) == ["last words"]


async def test_an_observer_that_raises_is_told_to_the_daemon_and_stops_nobody(
    log: EventLog,
) -> None:
    def broken(event: e.Event) -> None:
        raise ValueError("broken plumbing")

    seen: list[e.Event] = []
    log.observe(broken)
    log.observe(seen.append)
    with capture_logs() as lines:
        appended = await log.append(said("x"))
    assert seen == appended
    assert log.failed.is_set()
    assert str(log.failure) == "broken plumbing"
    assert lines[0]["event"] == "log.observer_failed"


async def test_a_writer_that_cannot_go_on_fails_everyone_who_waits(tmp_path: Path) -> None:
    with capture_logs() as lines:
        async with log_in(tmp_path) as log:
            log.store._db.execute("DROP TABLE events")
            waiting = asyncio.gather(
                log.append(said("a")), log.append(said("b"), hold=True), return_exceptions=True
            )
            errors = await soon(waiting)
            assert all("no such table" in str(error) for error in errors)
            await soon(log.failed.wait())
            with pytest.raises(SessionsError):
                await log.append(said("c"))
    assert [line["event"] for line in lines] == ["log.failed"]


async def test_the_state_at_any_place_is_the_fold_up_to_there(log: EventLog) -> None:
    await log.append(born("s1", "fix"), said("elsewhere", "s2"))
    await log.append(happened(e.SessionStarted(claude_session_id="c1")))
    await log.append(happened(e.SessionRenamed(name="mend")))
    assert (await log.state_at("s1", 1)).status is Status.STARTING
    assert (await log.state_at("s1", 3)).status is Status.RUNNING
    assert (await log.state_at("s1", 3)).name == "fix"
    assert (await log.state_at("s1")).name == "mend"
    with pytest.raises(NotFound):
        await log.state_at("s9")
    with pytest.raises(NotFound):
        await log.state_at("s1", 0)


async def test_opening_gives_the_place_of_the_last_event(tmp_path: Path) -> None:
    async with log_in(tmp_path) as log:
        await log.append(said("a"), said("b"))
        epoch = log.epoch
    async with log_in(tmp_path) as again:
        assert (again.head, again.epoch) == (2, epoch)
