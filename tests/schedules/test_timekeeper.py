"""Each run once: through days, pauses, jumps of the clock, restarts and crashes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest

from claude_sessions import events as e
from claude_sessions.errors import Conflict, Forbidden, NotFound
from claude_sessions.model import Reason, Role, Status
from claude_sessions.schedules.book import MOST, Schedule
from claude_sessions.schedules.timekeeper import MISSED, NOT_STARTED, STILL_WORKS
from tests.schedules.stage import MIDNIGHT, NINE, CountingClock, Stage, staged
from tests.waiting import eventually

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


async def test_it_runs_at_its_time_day_after_day_and_only_then(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add()
        await stage.pass_time(NINE - MINUTE)
        assert await stage.dues() == []
        await stage.pass_time(MINUTE)
        await stage.pass_time(MINUTE)
        assert await stage.dues() == ["01 09:00"]
        await stage.pass_time(DAY - MINUTE)
        await stage.pass_time(DAY)
        assert await stage.dues() == ["01 09:00", "02 09:00", "03 09:00"]


async def test_it_is_launched_as_who_made_it_and_waits_in_line(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add(name="nightly", budget_usd=2.0, once=True, role=Role.APPROVER)
        await stage.pass_time(NINE)
        (caller,), (order,) = stage.pad.callers, stage.pad.orders
        assert (str(caller), caller.role) == ("ann (schedule)", Role.APPROVER)
        assert (order.prompt, order.name, order.directory) == ("test it", "nightly", "/srv/web")
        assert (order.budget_usd, order.once, order.queue) == (2.0, True, True)
        assert order.origin == caller.channel == "memory|ann"


async def test_the_run_is_written_down_before_it_is_launched(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add()
        seen = []
        stage.pad.before = lambda: seen.append(stage.book.find("s1").last_due)
        await stage.pass_time(NINE)
        assert seen == [MIDNIGHT + NINE]


async def test_the_log_has_what_became_of_it(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        schedule = await stage.add()
        await stage.pass_time(NINE)
        due = (MIDNIGHT + NINE).timestamp()
        fired = e.ScheduleFired(schedule_id="s1", due=due, session="session1")
        assert await stage.facts(e.ScheduleFired) == [fired]
        assert stage.book.find("s1").last_session == "session1"
        await stage.book.pause(schedule, "ann")
        await stage.book.remove(schedule, "ann")
        assert await stage.facts(e.ScheduleChanged, e.ScheduleRemoved) == [
            e.ScheduleChanged(schedule_id="s1", paused=True),
            e.ScheduleRemoved(schedule_id="s1"),
        ]


async def test_a_single_time_is_gone_after_its_run(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add(cron=None, at=MIDNIGHT + NINE)
        await stage.pass_time(NINE)
        assert await stage.dues() == ["01 09:00"]
        assert stage.book.all() == []


async def test_after_a_jump_of_the_clock_what_was_missed_is_skipped(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add()
        await stage.pass_time(10 * DAY)
        assert await stage.dues() == []
        (skipped,) = await stage.facts(e.ScheduleSkipped)
        assert (skipped.reason, skipped.quiet) == (MISSED, False)
        await stage.pass_time(NINE)
        assert await stage.dues() == ["11 09:00"]


async def test_or_made_up_for_once_however_many_there_were(tmp_path: Path) -> None:
    async with staged(tmp_path, missed="catch_up") as stage:
        await stage.add()
        await stage.add(id="s2", cron="* * * * *")
        await stage.pass_time(10 * DAY)
        assert sorted(await stage.dues()) == ["10 09:00", "11 00:00"]


async def test_a_clock_that_goes_back_repeats_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add()
        await stage.pass_time(NINE)
        stage.clock.advance(-2 * 3600)
        stage.keeper.look()
        await stage.pass_time(timedelta(hours=2))
        await stage.pass_time(MINUTE)
        assert await stage.dues() == ["01 09:00"]


@pytest.mark.parametrize(("missed", "runs"), [("skip", []), ("catch_up", ["03 09:00"])])
async def test_what_was_due_while_nothing_ran(
    tmp_path: Path, missed: Literal["skip", "catch_up"], runs: list[str]
) -> None:
    clock = CountingClock(MIDNIGHT)
    async with staged(tmp_path, clock=clock) as stage:
        await stage.add()
    clock.advance((2 * DAY + NINE + timedelta(hours=3)).total_seconds())
    async with staged(tmp_path, clock=clock, missed=missed) as stage:
        await stage.quiet()
        assert await stage.dues() == runs
    async with staged(tmp_path, clock=clock, missed=missed) as stage:
        await stage.quiet()
        assert await stage.dues() == runs


async def test_a_crash_between_writing_and_launching_never_runs_it_twice(tmp_path: Path) -> None:
    clock = CountingClock(MIDNIGHT + NINE + MINUTE)
    async with staged(tmp_path, clock=clock, serving=False) as stage:
        await stage.book.add(_claimed(stage), "ann")
    async with staged(tmp_path, clock=clock, missed="catch_up") as stage:
        await eventually(lambda: stage.book.find("s1").last_problem)
        await stage.pass_time(timedelta(hours=1))
        assert stage.pad.orders == []
        assert stage.book.find("s1").last_problem == NOT_STARTED
        assert [f.reason for f in await stage.facts(e.ScheduleSkipped)] == [NOT_STARTED]


async def test_a_crash_after_launching_finds_its_session(tmp_path: Path) -> None:
    clock = CountingClock(MIDNIGHT + NINE + MINUTE)
    async with staged(tmp_path, clock=clock, serving=False) as stage:
        claimed = _claimed(stage)
        await stage.book.add(claimed, "ann")
        await stage.pad.launch(claimed.order(), claimed.caller())
    async with staged(tmp_path, clock=clock, missed="catch_up") as stage:
        await eventually(lambda: stage.book.find("s1").last_session)
        assert stage.book.find("s1").last_session == "session1"
        assert await stage.dues() == ["01 09:00"]


def _claimed(stage: Stage) -> Schedule:
    """As a crash leaves it right after its run was written down."""
    return Schedule(
        id="s1",
        cron="0 9 * * *",
        prompt="test it",
        directory="/srv/web",
        by="ann",
        role=Role.PROMPTER,
        made_at=MIDNIGHT,
        since=MIDNIGHT,
        last_due=MIDNIGHT + NINE,
        last_seq=stage.log.head,
    )


async def test_while_the_last_one_works_the_next_is_skipped_and_that_is_said_once(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        await stage.add(cron="* * * * *")
        await stage.pass_time(MINUTE)
        await stage.pad.tell("session1", e.TurnStarted())
        await stage.pass_time(MINUTE)
        await stage.pass_time(MINUTE)
        skipped = await stage.facts(e.ScheduleSkipped)
        assert [(f.reason, f.quiet) for f in skipped] == [(STILL_WORKS, False), (STILL_WORKS, True)]
        await stage.pad.tell("session1", e.TurnCompleted())
        await stage.pass_time(MINUTE)
        assert len(stage.pad.orders) == 2


async def test_one_that_sleeps_or_has_ended_does_not_hold_up_the_next(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add(cron="* * * * *")
        await stage.pass_time(MINUTE)
        await stage.pad.tell("session1", e.SessionAsleep(reason=Reason.SHUTDOWN))
        await stage.pass_time(MINUTE)
        ended = e.SessionEnded(status=Status.KILLED, reason=Reason.USER)
        await stage.pad.tell("session2", ended)
        await stage.pass_time(MINUTE)
        assert len(stage.pad.orders) == 3


async def test_a_launch_that_is_refused_is_skipped_with_its_sentence(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add()
        stage.pad.before = refuse
        await stage.pass_time(NINE)
        (skipped,) = await stage.facts(e.ScheduleSkipped)
        assert (skipped.reason, skipped.origin) == ("The directory is gone.", "memory|ann")
        assert stage.book.find("s1").last_problem == "The directory is gone."


def refuse() -> None:
    raise Forbidden("The directory is gone.")


def break_() -> None:
    raise RuntimeError("a bug")


async def test_one_that_breaks_holds_up_no_other_and_is_not_repeated(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add()
        stage.pad.before = break_
        await stage.pass_time(NINE)
        stage.pad.before = lambda: None
        await stage.add(id="s2", cron="30 9 * * *")
        await stage.pass_time(timedelta(minutes=30))
        assert await stage.dues() == ["01 09:30"]


async def test_what_is_paused_does_not_run_and_does_not_catch_up(tmp_path: Path) -> None:
    async with staged(tmp_path, missed="catch_up") as stage:
        await stage.add(id="s2", cron="0 0 1 1 *")  # so that there is something to wait for
        schedule = await stage.add()
        await stage.book.pause(schedule, "ann")
        await stage.pass_time(NINE)
        await stage.pass_time(timedelta(hours=1))
        await stage.book.resume(stage.book.find("s1"), stage.clock.now(), "ann")
        stage.keeper.look()
        await stage.pass_time(MINUTE)
        assert await stage.dues() == []
        await stage.pass_time(DAY - timedelta(hours=1, minutes=1))
        assert await stage.dues() == ["02 09:00"]


async def test_one_that_is_paused_in_the_last_moment_does_not_run(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add(last_session="gone")  # looking for it takes a moment
        stage.clock.advance(NINE.total_seconds())
        async with asyncio.timeout(10):
            while not stage.keeper.starting("s1"):  # noqa: ASYNC110 - the very moment
                await asyncio.sleep(0)
        stage.book.update("s1", paused=True)
        await stage.quiet()
        assert stage.pad.orders == []


async def test_run_now_is_one_run_however_often_it_is_asked_for_at_once(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        schedule = await stage.add()
        asked = [stage.keeper.run_now(schedule) for _ in range(3)]
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        assert sorted(type(o).__name__ for o in outcomes) == ["Conflict", "Conflict", "Reply"]
        assert len(stage.pad.orders) == 1
        await stage.pass_time(NINE)
        assert len(stage.pad.orders) == 2


async def test_run_now_says_what_was_refused_and_tells_nobody_else(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        schedule = await stage.add()
        stage.pad.before = refuse
        with pytest.raises(Forbidden, match="The directory is gone"):
            await stage.keeper.run_now(schedule)
        assert [f.quiet for f in await stage.facts(e.ScheduleSkipped)] == [True]
        stage.pad.before = break_
        with pytest.raises(Conflict, match="could not be started"):
            await stage.keeper.run_now(schedule)


async def test_one_that_is_deleted_while_it_starts_stays_deleted(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        schedule = await stage.add()
        stage.pad.before = lambda: stage.book.forget("s1")
        await stage.keeper.run_now(schedule)
        assert stage.book.all() == []


async def test_a_schedule_is_found_by_id_or_by_its_name(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.add(name="nightly")
        await stage.add(id="s2", name="twice")
        await stage.add(id="s3", name="twice")
        assert stage.book.find("nightly").id == stage.book.find("s1").id
        with pytest.raises(Conflict, match="s2, s3"):
            stage.book.find("twice")
        with pytest.raises(NotFound, match="/schedules"):
            stage.book.find("none")


async def test_there_may_be_so_many_and_no_more(tmp_path: Path) -> None:
    async with staged(tmp_path, serving=False) as stage:
        schedule = _claimed(stage)
        for number in range(MOST):
            stage.book.put(replace(schedule, id=f"s{number}"))
        with pytest.raises(Conflict, match="200 schedules"):
            await stage.book.add(schedule, "ann")


async def test_schedules_are_as_they_were_when_the_file_is_opened_again(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        made = await stage.add(name="nightly", zone="Asia/Tokyo", allowed_tools=("Read",))
    async with staged(tmp_path, serving=False) as stage:
        assert stage.book.all() == [made]
