"""What people said while nobody was there: old words are asked about before they are obeyed."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox, Script, ScriptedModel
from tests.botapi import BotApi, Person
from tests.telegram.phone import OWNER, PROMPTER, Phone, phone_of
from tests.telegram.travel import TravelClock
from tests.waiting import eventually

ASKED = "came while I was away"
LONG_AGO = 3600


async def said_long_ago(person: Person, *texts: str) -> None:
    for text in texts:
        await person.says(text, date=int(time.time()) - LONG_AGO)


@asynccontextmanager
async def came_back(sandbox: Sandbox, workdir: Path, api: BotApi) -> AsyncIterator[Phone]:
    """To a session that heard one word before."""
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/new --fg --name first hello")
        await phone.owner.chat.shows("context", timeout=20)
    await said_long_ago(phone.owner, "one", "two", "three")
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.chat.shows(f"3 messages {ASKED}")
        yield phone


async def test_old_words_are_run_in_their_order_once_their_person_says_so(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with came_back(sandbox, workdir, api) as phone:
        assert model.prompts() == ["hello"]
        await phone.owner.presses("Run")
        await phone.owner.chat.shows("3 messages from while I was away: run now.")
        await phone.owner.chat.shows("You said: three", timeout=40)
        assert model.prompts() == ["hello", "one", "two", "three"]
        assert not any(label == "Run" for label in phone.owner.chat.button_labels())


async def test_old_words_are_shown_and_dropped(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with came_back(sandbox, workdir, api) as phone:
        await phone.owner.presses("Show")
        shown = await phone.owner.chat.shows("  two")
        assert [line.split("  ")[1] for line in shown.text.splitlines()] == ["one", "two", "three"]
        press = await phone.owner.presses("Drop")
        assert await press.answered() == "Dropped."
        await phone.owner.chat.shows("3 messages dropped.")
        again = await phone.owner.presses_again(press)
        assert "has changed since" in await again.answered()
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/sessions")
        await phone.owner.chat.shows("1 session")
        assert f"messages {ASKED}" not in phone.owner.chat.text()
    assert model.prompts() == ["hello"]


async def test_what_was_asked_before_another_restart_can_still_be_answered(
    script: Script, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    owner = api.person(OWNER, "Ada")
    await said_long_ago(owner, "/sessions", "/projects")
    async with phone_of(sandbox, workdir, api):
        await owner.chat.shows(f"2 messages {ASKED}")
    for _ in range(2):
        async with phone_of(sandbox, workdir, api):
            await api.acknowledged()
    await said_long_ago(owner, "/sessions")
    async with phone_of(sandbox, workdir, api):
        card = await owner.chat.shows(f"3 messages {ASKED}")
        await owner.presses("Run", card)
        await owner.chat.shows("No sessions", timeout=20)
        await owner.chat.shows("3 messages from while I was away: run now.")
    assert sum("while I was away" in message.text for message in owner.chat.of_bot) == 1


async def test_a_long_paste_is_one_message_also_after_a_restart(
    script: Script, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    owner = api.person(OWNER, "Ada")
    await said_long_ago(owner, "a" * 4096, "b" * 200)
    for _ in range(2):
        async with phone_of(sandbox, workdir, api):
            await owner.chat.shows(f"1 message {ASKED}", timeout=20)
            await eventually(lambda: api.pending == 0)
    assert f"2 messages {ASKED}" not in owner.chat.text()


# --- what is old, and by which clock


async def test_what_was_said_while_telegram_could_not_be_reached_is_asked_about_too(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    clock = TravelClock(datetime.now(UTC))
    async with (
        BotApi(clock=clock.monotonic, now=clock.timestamp) as api,
        phone_of(sandbox, workdir, api, clock=clock) as phone,
    ):
        await phone.owner.says("/new --fg --name first hello")
        await phone.owner.chat.shows("context", timeout=20)
        await api.goes_down()
        await phone.owner.says("delete it all")
        clock.jump(hours=2)
        await api.comes_back()
        await phone.owner.chat.shows(f"1 message {ASKED}", timeout=40)
        assert model.prompts() == ["hello"]
        await phone.owner.presses("Run")
        await phone.owner.chat.shows("You said: delete it all", timeout=20)


@pytest.mark.parametrize("hours", [-3, 3])
async def test_a_clock_that_is_wrong_makes_nothing_older_or_newer(
    sandbox: Sandbox, workdir: Path, api: BotApi, hours: int
) -> None:
    clock = TravelClock(datetime.now(UTC) + timedelta(hours=hours))
    async with phone_of(sandbox, workdir, api, clock=clock) as phone:
        await said_long_ago(phone.owner, "/projects")
        await phone.owner.chat.shows(f"1 message {ASKED}")
        await phone.owner.says("/sessions")
        await phone.owner.chat.shows("No sessions")
        await phone.owner.says("/status", date=int(time.time()) + 7200)
        await phone.owner.chat.shows("Telegram")
    assert f"2 messages {ASKED}" not in phone.owner.chat.text()


async def test_whoever_wants_to_be_asked_about_all_that_is_old_is_not_asked_about_what_is_new(
    sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    owner = api.person(OWNER, "Ada")
    await owner.says("/projects", date=int(time.time()) - 20)
    async with phone_of(sandbox, workdir, api, telegram={"old_updates_minutes": 0}):
        await owner.chat.shows(f"1 message {ASKED}")
        await owner.says("/sessions")
        await owner.chat.shows("No sessions")


async def test_nobody_else_decides_about_them(
    script: Script, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    owner, pat = api.person(OWNER, "Ada"), api.person(PROMPTER, "Pat")
    mallory = api.person(666, "Mallory")
    team = api.group(-100500, "Team", members=[owner, pat, mallory])
    await owner.says("/sessions", chat=team, date=int(time.time()) - LONG_AGO)
    async with phone_of(sandbox, workdir, api):
        await team.shows(f"1 message {ASKED}")
        ignored = await mallory.presses("Run", chat=team)
        press = await pat.presses("Run", chat=team)
        assert "somebody else's messages" in await press.answered()
        assert ignored.toast is None
        assert "No sessions" not in team.text()


async def test_a_stranger_is_not_asked_about_what_they_said(
    script: Script, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    mallory = api.person(666, "Mallory")
    await said_long_ago(mallory, "Let me in")
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.chat.shows("Mallory")
        await phone.owner.says("/sessions")
        await phone.owner.chat.shows("No sessions")
    assert mallory.chat.of_bot == []
