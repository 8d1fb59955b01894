"""What starts by the clock: chat text to chat text, with days that pass in a moment."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_sessions import events as e
from claude_sessions.channel import Kind
from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, hang, say
from claude_sessions.model import PermissionMode, Role
from claude_sessions.settings import Settings
from tests.journeys.chat import Chat, chatting, settings_for
from tests.waiting import eventually

EVENING = datetime(2026, 11, 18, 17, 0, tzinfo=UTC)  # a Wednesday, 18:00 in Berlin
HOUR = 3600.0
DAY = 24 * HOUR


def in_berlin(workdir: Path, missed: str = "skip", **sessions: object) -> Settings:
    schedules = {"timezone": "Europe/Berlin", "missed": missed}
    plain = settings_for(workdir, idle_timeout_minutes=0, safety_net_seconds=0, **sessions)
    return Settings.model_validate(plain.model_dump(exclude_unset=True) | {"schedules": schedules})


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(EVENING)


@pytest.fixture
async def chat(sandbox: Sandbox, workdir: Path, clock: ManualClock) -> AsyncIterator[Chat]:
    async with chatting(sandbox, workdir, clock=clock, settings=in_berlin(workdir)) as owner:
        yield owner


async def facts(chat: Chat, kind: type[e.Payload]) -> list[e.Payload]:
    events = await chat.daemon.log.events(limit=10_000)
    return [event.payload for event in events if isinstance(event.payload, kind)]


def id_in(reply: str) -> str:
    found = re.search(r"^ *id (\w{8})", reply, re.MULTILINE)
    assert found, reply
    return found[1]


async def test_a_schedule_launches_by_name_and_its_origin_hears_of_it(
    script: Script, chat: Chat, clock: ManualClock, workdir: Path
) -> None:
    script.on("Run the tests", say("All green."))
    (workdir / "web").mkdir()
    reply = await chat.type(
        '/schedule "0 9 * * 1-5" --name nightly --dir web --once Run the tests and fix what broke'
    )
    assert reply.startswith("⏰ nightly · tomorrow 09:00 · web · 0 9 * * 1-5\nRun the tests")
    clock.advance(15 * HOUR)
    state = await chat.ended("nightly")
    assert state.spec.directory == str(workdir / "web")
    await chat.shows(Kind.LAUNCHED, "nightly")
    await chat.shows(Kind.COMPLETED, "All green.")
    clock.advance(DAY)
    await chat.ended("nightly-2")
    listed = await chat.type("/schedules")
    assert "⏰ nightly · Mon 09:00 · web · 0 9 * * 1-5" in listed
    assert "last: today 09:00 · nightly-2 ✅ done" in listed


async def test_in_two_hours_is_once_and_then_forgotten(
    script: Script, model: ScriptedModel, chat: Chat, clock: ManualClock
) -> None:
    assert "today 20:00" in await chat.type("/schedule in 2h --name later look around")
    clock.advance(2 * HOUR)
    await chat.idle("later")
    await model.asked("look around")
    await eventually(lambda: not chat.daemon.pool.schedules.book.all())
    assert "Nothing is scheduled" in await chat.type("/schedule")
    assert len(await facts(chat, e.ScheduleFired)) == 1


async def test_a_time_has_its_own_zone(chat: Chat, clock: ManualClock) -> None:
    reply = await chat.type("/schedule at 9:30 --tz Asia/Tokyo --name early hello")
    assert "today 09:30 (Asia/Tokyo)" in reply  # where it is Thursday already
    clock.advance(7.5 * HOUR)
    await chat.idle("early")


async def test_one_that_is_paused_waits_until_it_is_resumed(chat: Chat, clock: ManualClock) -> None:
    id_ = id_in(await chat.type('/schedule "0 19 * * *" --name daily hello'))
    assert "paused" in await chat.type(f"/schedule pause {id_}")
    assert "⏸ daily · paused" in await chat.type("/schedules")
    clock.advance(2 * HOUR)
    assert "tomorrow 19:00" in await chat.type(f"/schedule resume {id_}")
    assert "not paused" in await chat.type(f"/schedule resume {id_}")
    clock.advance(23 * HOUR)
    await chat.idle("daily")
    assert [f.paused for f in await facts(chat, e.ScheduleChanged)] == [True, False]  # type: ignore[attr-defined]


async def test_one_that_is_deleted_is_gone(chat: Chat) -> None:
    id_ = id_in(await chat.type("/schedule @daily hello"))
    assert "no longer scheduled" in await chat.type(f"/schedule delete {id_}")
    assert "There is no schedule" in await chat.type(f"/schedule run {id_}")
    assert len(await facts(chat, e.ScheduleRemoved)) == 1


async def test_run_now_starts_it_at_once_and_not_while_it_works(
    script: Script, chat: Chat, clock: ManualClock
) -> None:
    gate = Gate()
    script.on("hello", say("Hi", gate, "!"))
    await chat.type('/schedule "0 9 * * *" --name daily hello')
    assert "daily" in await chat.type("/schedule run daily")
    await gate.reached()
    assert "daily still works" in await chat.type("/schedule run daily")
    assert "daily 🟢 working" in await chat.type("/schedules")
    clock.advance(15 * HOUR)
    await chat.shows(Kind.NOTICE, "⏭ daily was skipped · the last one still works")
    gate.open()
    await chat.idle("daily")


async def test_the_buttons_of_a_row_do_what_they_say(chat: Chat) -> None:
    added = await chat.reply("/schedule @daily --name daily hello")
    assert [action.label for action in added.actions] == ["Run now", "Pause", "Delete"]
    await chat.type(added.actions[1].line)
    listed = await chat.reply("/schedules")
    labels = ["Run daily", "Resume daily", "Delete daily"]
    assert [action.label for action in listed.actions] == labels
    await chat.type(listed.actions[2].line)
    assert "Nothing is scheduled" in await chat.type("/schedules")


async def test_a_directory_that_has_gone_is_told_where_it_was_made(
    chat: Chat, clock: ManualClock, workdir: Path
) -> None:
    (workdir / "web").mkdir()
    other = chat.somebody(Role.PROMPTER, "ann")
    id_ = id_in(await other.type("/schedule in 1h --dir web --name later hello"))
    (workdir / "web").rmdir()
    clock.advance(HOUR)
    told = await other.shows(Kind.NOTICE, "⏭ later was skipped")
    assert "does not exist" in told.text
    assert told.actions[0].line == f"/schedule run {id_}"
    assert Kind.NOTICE not in chat.kinds()
    assert "skipped: " in await chat.type("/schedules")


async def test_a_full_pool_is_told_or_waited_for(
    script: Script, sandbox: Sandbox, workdir: Path, clock: ManualClock
) -> None:
    script.on("hang", hang())
    settings = in_berlin(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.type("/new --name stuck hang")
        await chat.working("stuck")
        id_ = id_in(await chat.type("/schedule in 1h --name later hello"))
        clock.advance(HOUR)
        book = chat.daemon.pool.schedules.book
        await eventually(lambda: (known := book.get(id_)) is None or known.last_due)
        await chat.type("/kill stuck")
        if any("later was skipped" in n.text for n in chat.channel.sent):
            await chat.type(f"/schedule run {id_}")
        await chat.idle("later")


@pytest.mark.parametrize("missed", ["skip", "catch_up"])
async def test_what_was_due_while_the_daemon_was_down(
    sandbox: Sandbox, workdir: Path, clock: ManualClock, missed: str
) -> None:
    settings = in_berlin(workdir, missed)
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.type('/schedule "0 * * * *" --name hourly hello')
    clock.advance(5.5 * HOUR)
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        if missed == "skip":
            await chat.shows(Kind.NOTICE, "⏭ hourly was skipped · claude-sessions was not running")
            assert "No sessions" in await chat.type("/sessions")
        else:
            await chat.idle("hourly")
        clock.advance(0.5 * HOUR)
        await chat.idle("hourly" if missed == "skip" else "hourly-2")
        runs = len(await facts(chat, e.ScheduleFired))
        assert runs == (1 if missed == "skip" else 2)


async def test_a_session_that_began_right_before_a_crash_is_found_again(
    sandbox: Sandbox, workdir: Path, clock: ManualClock
) -> None:
    settings = in_berlin(workdir, "catch_up")
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.type("/schedule @daily --name daily hello")
        await chat.type("/schedule run daily")
        begun = await chat.idle("daily")
        chat.daemon.pool.schedules.book.update(_ids(chat)[0], last_session=None)
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        book = chat.daemon.pool.schedules.book
        await eventually(lambda: book.find("daily").last_session)
        assert book.find("daily").last_session == begun.id


def _ids(chat: Chat) -> list[str]:
    return [schedule.id for schedule in chat.daemon.pool.schedules.book.all()]


async def test_a_run_that_was_written_down_and_never_launched_is_named(
    sandbox: Sandbox, workdir: Path, clock: ManualClock
) -> None:
    settings = in_berlin(workdir, "catch_up")
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.type("/schedule at 2026-11-18T19:00 --name later hello")
        due = EVENING + timedelta(hours=1)
        chat.daemon.pool.schedules.book.update(_ids(chat)[0], last_due=due)
        assert "did not start" in await chat.type("/schedules")
    clock.advance(HOUR)
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.shows(Kind.NOTICE, "later was skipped · it did not start")
        assert "did not start" in await chat.type("/schedules")
        assert "No sessions" in await chat.type("/sessions")


async def test_it_keeps_real_time_too(sandbox: Sandbox, workdir: Path) -> None:
    async with chatting(sandbox, workdir) as chat:
        soon = datetime.now(UTC) + timedelta(seconds=1)
        await chat.type(f"/schedule at {soon.isoformat()} --name soon hello")
        state = await chat.idle("soon")
        assert state.created_at >= soon


async def test_people_see_to_their_own_and_admins_to_all(chat: Chat) -> None:
    ann, bob = chat.somebody(Role.PROMPTER, "ann"), chat.somebody(Role.APPROVER, "bob")
    viewer = chat.somebody(Role.VIEWER, "eve")
    id_ = id_in(await ann.type("/schedule @daily --name hers hello"))
    assert "hers is ann's" in await bob.type(f"/schedule pause {id_}")
    assert "hers is ann's" in await bob.type(f"/schedule run {id_}")
    assert "You may not make schedules" in await viewer.type("/schedule @daily hello")
    assert "by ann" in await viewer.type("/schedules")
    assert "paused" in await ann.type(f"/schedule pause {id_}")
    assert "no longer" in await chat.type(f"/schedule delete {id_}")


async def test_nobody_gets_more_by_the_clock_than_they_may_have(
    chat: Chat, clock: ManualClock
) -> None:
    ann = chat.somebody(Role.PROMPTER, "ann")
    loose = "/schedule in 1h --mode bypass hello"
    assert "only an admin may" in await ann.type(loose)
    assert "allow tools in advance" in await ann.type("/schedule in 1h --allow Read hello")
    assert "Nothing is scheduled" in await chat.type("/schedules")
    await chat.type("/schedule in 1h --mode acceptEdits --name mine hello")
    clock.advance(HOUR)
    state = await chat.idle("mine")
    assert state.spec.mode is PermissionMode.ACCEPT_EDITS
    assert (await chat.daemon.log.events(state.id))[0].caller == "owner (schedule)"


async def test_rules_given_in_advance_hold_in_its_session(
    script: Script, chat: Chat, clock: ManualClock
) -> None:
    await chat.type("/schedule in 1h --allow Read,Grep --name mine hello")
    clock.advance(HOUR)
    state = await chat.idle("mine")
    assert state.spec.allowed_tools == ("Read", "Grep")
    assert {rule.session for rule in chat.daemon.pool.rules.active()} == {state.id}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/schedule at 2020-01-01T09:00 go", "has passed"),
        ("/schedule in soon go", "Say 30m, 2h or 1d"),
        ('/schedule "0 9 * *" go', "five fields"),
        ("/schedule 61 9 * * * go", "no cron line"),
        ("/schedule in 1h --tz Mars/Base go", "no time zone"),
        ("/schedule in 1h --dir nowhere go", "does not exist"),
        ("/schedule in 1h --dir / go", "outside the allowed directories"),
        ("/schedule in 1h --name Not/OK go", "cannot be a name"),
        ("/schedule in 1h " + "x" * 20_001, "put it in a file"),
        ("/schedule in 1h --allow Bash(( go", "parenthesis"),
    ],
)
async def test_what_could_never_run_is_refused_at_once(chat: Chat, line: str, says: str) -> None:
    assert says in await chat.type(line)
    assert "Nothing is scheduled" in await chat.type("/schedules")
