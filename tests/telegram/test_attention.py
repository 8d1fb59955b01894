"""Attention that respects people: chat text to chat text, with nights that pass in a moment."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from claude_sessions import events as e
from claude_sessions.demo import Gate, Sandbox, Script, bash, say
from claude_sessions.storage.sqlite import Store
from tests.botapi import BotApi, Message
from tests.telegram.phone import VIEWER, Phone, phone_of
from tests.telegram.travel import TravelClock

Opening = Callable[..., AbstractAsyncContextManager[Phone]]


def berlin(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.fixture
def clock() -> TravelClock:
    return TravelClock(berlin(18, 21))


@pytest.fixture
async def api(clock: TravelClock) -> AsyncIterator[BotApi]:
    async with BotApi(clock=clock.monotonic, now=clock.timestamp) as serving:
        yield serving


@pytest.fixture
def opening(sandbox: Sandbox, workdir: Path, api: BotApi, clock: TravelClock) -> Opening:
    """A daemon in Berlin in which nothing but the clock of people's days goes by."""
    still = {"idle_timeout_minutes": 0, "safety_net_seconds": 0, "stall_minutes": 0}

    def open_(**telegram: Any) -> AbstractAsyncContextManager[Phone]:
        return phone_of(
            sandbox,
            workdir,
            api,
            clock=clock,
            sessions=still,
            telegram=telegram,
            schedules={"timezone": "Europe/Berlin"},
        )

    return open_


@pytest.fixture
async def phone(opening: Opening) -> AsyncIterator[Phone]:
    async with opening() as opened:
        yield opened


def told(phone: Phone, words: str) -> list[Message]:
    return [message for message in phone.owner.chat.of_bot if words in message.text]


async def answered(phone: Phone, line: str, words: str) -> Message:
    """What was shown before has been shown by the time this returns."""
    said = await phone.owner.says(line)
    return await phone.owner.chat.shows(lambda m: m.id > said.id and words in m.text)


# --- what rings


async def test_done_rings_by_day_and_comes_silently_in_ones_quiet_hours(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    script.on("day", say("By day.")).on("night", say("By night."))
    await answered(phone, "/quiet 22-7", "🔕 Nothing rings for you from 22 to 7 (Europe/Berlin).")
    await phone.owner.says("/new --name a day")
    assert not (await phone.owner.chat.shows("✅ a is done", timeout=20)).silent
    clock.jump_to(berlin(18, 22))
    await phone.owner.says("/new --name b night")
    assert (await phone.owner.chat.shows("✅ b is done", timeout=20)).silent
    await answered(phone, "/quiet off", "🔔 It may ring for you at any hour.")
    await phone.owner.says("/new --name c night")
    assert not (await phone.owner.chat.shows("✅ c is done", timeout=20)).silent


async def test_a_card_and_what_concerns_the_bot_are_silent_at_night_too(
    script: Script, opening: Opening, clock: TravelClock
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    clock.jump_to(berlin(18, 23))
    async with opening(quiet_hours="22-7") as phone:
        await phone.owner.says("/new --name maker make")
        assert (await phone.owner.chat.shows("maker asks", timeout=20)).silent
        await phone.api.person(666, "Mallory").says("hello?")
        assert (await phone.owner.chat.shows("Mallory")).silent
        assert "as configured" in (await answered(phone, "/quiet", "🔕")).text


async def test_in_groups_the_configured_hours_hold_whatever_a_persons_own_are(
    script: Script, opening: Opening, clock: TravelClock
) -> None:
    clock.jump_to(berlin(18, 23))
    async with opening(quiet_hours="22-7") as phone:
        group = phone.api.group(-100500, "Team", members=[phone.owner])
        await answered(phone, "/quiet off", "🔔")
        await phone.owner.says("/new --name inside hello", chat=group)
        await phone.owner.says("/new --name alone hello")
        assert (await group.shows("✅ inside is done", timeout=20)).silent
        assert not (await phone.owner.chat.shows("✅ alone is done", timeout=20)).silent


@pytest.mark.parametrize(("hour", "rings"), [(21, True), (23, False)])
async def test_a_long_turn_in_front_adds_a_short_reply_that_rings_but_not_at_night(
    script: Script, opening: Opening, clock: TravelClock, hour: int, rings: bool
) -> None:
    gate = Gate()
    script.on("work", say("I begin,", gate, " I end."))
    clock.jump_to(berlin(18, hour, 1))
    async with opening(quiet_hours="22-7") as phone:
        await phone.owner.says("/new --fg --name first work")
        await gate.reached()
        clock.jump(seconds=40)
        gate.open()
        finished = await phone.owner.chat.shows("context", timeout=20)
        if rings:
            short = await phone.owner.chat.shows("✅ first is done")
            assert not short.silent
            assert short.reply_to is finished
        await answered(phone, "/sessions", "1 session")
        assert bool(told(phone, "✅ first is done")) is rings
        assert finished.silent


async def test_one_that_goes_on_by_itself_is_not_done(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    gate = Gate()
    script.on("work", say("I begin,", gate, " I end."))
    await phone.owner.says("/new --fg --name first work")
    await gate.reached()
    await answered(phone, "and then", "Queued for first")
    clock.jump(seconds=40)
    gate.open()
    await phone.owner.chat.shows("You said: and then", timeout=20)
    assert not told(phone, "✅ first is done")


# --- while somebody was away


async def test_who_comes_back_is_told_once_and_silently_what_they_missed(
    script: Script, opening: Opening, clock: TravelClock
) -> None:
    gate = Gate()
    script.on("work", say("Wait", gate, "ed."))
    async with opening() as phone:
        await phone.owner.says("/new --name fix-auth work")
        await gate.reached()
        clock.jump(hours=2)
        gate.open()
        await phone.owner.chat.shows("✅ fix-auth is done", timeout=20)
        clock.jump(hours=1)
        answer = await answered(phone, "/sessions", "1 session")
        (missed,) = told(phone, "While you were away (3 h) · 1 turn")
        assert "✅ fix-auth done 1 h ago · 1 turn" in missed.text
        assert missed.button_labels == ["Foreground fix-auth"]
        assert (missed.silent, missed.id < answer.id) == (True, True)
        await answered(phone, "/sessions", "1 session")
    clock.jump(hours=3)
    async with opening() as phone:
        await answered(phone, "/sessions", "1 session")
        assert len(told(phone, "While you were away")) == 1


async def test_who_was_gone_for_a_moment_is_told_nothing(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    await phone.owner.says("/new --name first hello")
    await phone.owner.chat.shows("✅ first is done", timeout=20)
    clock.jump(hours=0.9)
    await answered(phone, "/sessions", "1 session")
    assert not told(phone, "While you were away")


async def test_what_one_had_in_front_is_not_told_again(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    await phone.owner.says("/new --fg --name first hello")
    await phone.owner.chat.shows("context", timeout=20)
    clock.jump(hours=3)
    await answered(phone, "/sessions", "1 session")
    assert not told(phone, "While you were away")


async def test_a_press_is_coming_back_too_and_what_was_pressed_is_no_longer_asked(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await phone.owner.says("/new --name other hello")
    await phone.owner.says("/new --name maker make")
    await phone.owner.chat.shows("✅ other is done", timeout=20)
    await phone.owner.chat.shows("maker asks", timeout=20)
    clock.jump(hours=3)
    await phone.owner.presses("Allow")
    await phone.owner.chat.shows("Allowed once by owner")
    missed = await phone.owner.chat.shows("While you were away (3 h)")
    assert "✅ other done" in missed.text
    assert "maker waits for you" not in missed.text


async def test_in_a_group_one_is_told_in_ones_own_chat(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    group = phone.api.group(-100500, "Team", members=[phone.owner, phone.viewer()])
    await phone.viewer().says("/sessions", chat=group)
    await phone.owner.says("/new --name first hello")
    await phone.owner.chat.shows("✅ first is done", timeout=20)
    clock.jump(hours=3)
    await phone.viewer().says("/sessions", chat=group)
    await phone.owner.says("/sessions", chat=group)
    await phone.owner.chat.shows("While you were away (3 h)")
    assert "While you were away" not in group.text()
    assert not phone.api.chat(VIEWER).of_bot  # nobody writes to whoever never wrote


async def test_the_terminal_is_a_door_too_with_the_same_position(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    await phone.owner.says("/new --name first hello")
    await phone.owner.chat.shows("✅ first is done", timeout=20)
    clock.jump(hours=3)
    caller = phone.daemon.local_caller("terminal", "console|local")
    missed = await phone.daemon.missed("/sessions", caller)
    assert missed is not None
    assert missed.text.startswith("While you were away (3 h) · 1 turn")
    await answered(phone, "/sessions", "1 session")
    assert not told(phone, "While you were away")


async def test_the_digest_can_be_read_again_and_from_any_door(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    await answered(phone, "/digest", "Since 21:00\nNothing happened.")
    await phone.owner.says("/new --name first hello")
    await phone.owner.chat.shows("✅ first is done", timeout=20)
    clock.jump(hours=3)
    digest = await answered(phone, "/digest", "Since 21:00 · 1 turn")
    assert "✅ first done 3 h ago" in digest.text
    assert not told(phone, "While you were away")
    caller = phone.daemon.local_caller("terminal", "console|local")
    assert "✅ first done" in (await phone.daemon.hear("/digest", caller)).text


# --- in the morning


async def a_night_with_news(phone: Phone, clock: TravelClock) -> None:
    """Quiet hours are chosen, and a session that began before them is done in them."""
    await answered(phone, "/quiet 22-7", "🔕")
    await phone.owner.says("/new --name nightly work")
    await answered(phone, "/sessions", "nightly")
    clock.jump_to(berlin(18, 23))


async def test_a_morning_digest_rings_once_when_the_quiet_hours_end(
    script: Script, opening: Opening, clock: TravelClock
) -> None:
    gate = Gate()
    script.on("work", say("Wait", gate, "ed."))
    async with opening() as phone:
        await a_night_with_news(phone, clock)
        gate.open()
        assert (await phone.owner.chat.shows("✅ nightly is done", timeout=20)).silent
        clock.jump_to(berlin(19, 6, 59))
        await phone.viewer().says("/sessions")
        await phone.viewer().chat.shows("1 session")
        assert not told(phone, "☀️")
        clock.jump_to(berlin(19, 7))
        digest = await phone.owner.chat.shows("☀️ Since 21:00 · 1 turn")
        assert "✅ nightly done 7 h ago" in digest.text  # and almost an hour
        assert not digest.silent
    async with opening() as phone:
        clock.jump_to(berlin(19, 8, 30))
        await answered(phone, "/sessions", "1 session")
        assert len(told(phone, "☀️")) == 1
        assert not told(phone, "While you were away")


async def test_a_daemon_killed_right_after_the_morning_digest_does_not_repeat_it(
    script: Script, opening: Opening, clock: TravelClock, sandbox: Sandbox
) -> None:
    gate = Gate()
    script.on("work", say("Wait", gate, "ed."))
    async with opening() as phone:
        await a_night_with_news(phone, clock)
        gate.open()
        await phone.owner.chat.shows("✅ nightly is done", timeout=20)
        before = phone.daemon.pool.attention.presence.of("owner")
        clock.jump_to(berlin(19, 7))
        digest = await phone.owner.chat.shows("☀️ Since 21:00")
    assert before is not None
    with Store(sandbox.root / "state" / "log.db", runner="killed") as store:
        store.presences.keep([before])  # as if the position had not been written down in time
    clock.jump(seconds=60)
    async with opening() as phone:
        await answered(phone, "/sessions", "1 session")
        assert (told(phone, "☀️"), digest.edits) == ([digest], 0)
        assert not told(phone, "While you were away")


async def test_a_daemon_that_was_down_in_the_morning_tells_it_when_it_is_up(
    script: Script, opening: Opening, clock: TravelClock
) -> None:
    gate = Gate()
    script.on("work", say("Wait", gate, "ed."))
    async with opening() as phone:
        await a_night_with_news(phone, clock)
        gate.open()
        await phone.owner.chat.shows("✅ nightly is done", timeout=20)
    clock.jump_to(berlin(19, 9))
    async with opening() as phone:
        assert not (await phone.owner.chat.shows("☀️ Since 21:00 · 1 turn")).silent


async def test_after_a_night_without_news_nothing_is_said(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    await answered(phone, "/quiet 22-7", "🔕")
    await phone.owner.says("/new --name early hello")
    await phone.owner.chat.shows("✅ early is done", timeout=20)  # that rang
    clock.jump_to(berlin(19, 7))
    clock.jump(seconds=90)
    await phone.viewer().says("/sessions")
    await phone.viewer().chat.shows("1 session")
    assert not told(phone, "☀️")


async def test_who_was_up_at_night_is_told_only_what_came_after(
    script: Script, phone: Phone, clock: TravelClock
) -> None:
    gate = Gate()
    script.on("work", say("Wait", gate, "ed."))
    await a_night_with_news(phone, clock)
    gate.open()
    await phone.owner.chat.shows("✅ nightly is done", timeout=20)
    clock.jump(seconds=60)
    await answered(phone, "/sessions", "1 session")
    clock.jump_to(berlin(19, 7))
    await phone.viewer().says("/sessions")
    await phone.viewer().chat.shows("1 session")
    assert not told(phone, "☀️")


async def test_the_log_has_who_chose_which_hours(phone: Phone) -> None:
    await phone.viewer().says("/quiet 22:30-6:45")
    await phone.viewer().chat.shows("from 22:30 to 6:45")
    await phone.viewer().presses("Let it ring")
    await phone.viewer().chat.shows("🔔 It may ring for you at any hour.")
    events = await phone.daemon.log.events(limit=1000)
    found = [(v.payload.hours, v.caller) for v in events if isinstance(v.payload, e.QuietChanged)]
    assert found == [("22:30-6:45", "vic (Telegram)"), ("off", "vic (Telegram)")]
