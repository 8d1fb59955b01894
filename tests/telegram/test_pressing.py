"""Presses: old, foreign, forged, repeated or too late, each is answered honestly."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from claude_sessions import events as e
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, say
from tests.botapi import BotApi, Drop, Message, hang
from tests.telegram.phone import OWNER, Phone, phone_of
from tests.telegram.travel import TravelClock
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def asks(script: Script) -> None:
    script.on("make", bash("touch made"), say("Made."))


async def card_of(phone: Phone, name: str = "maker") -> Message:
    await phone.owner.says(f"/new --name {name} make")
    return await phone.owner.chat.shows(f"{name} asks", timeout=20)


def data_of(message: Message, label: str) -> str:
    buttons = (button for row in message.buttons for button in row)
    return str(next(button["callback_data"] for button in buttons if button["text"] == label))


async def test_what_a_button_carries_is_short_and_tells_nothing(phone: Phone) -> None:
    card = await card_of(phone)
    carried = [data_of(card, label) for label in card.button_labels]
    assert len(set(carried)) == len(carried)
    assert all(len(each.encode()) <= 64 and each.isalnum() for each in carried)


async def test_a_guess_opens_nothing(phone: Phone) -> None:
    card = await card_of(phone)
    press = phone.owner._press(card, "/allow")
    assert "from long ago" in await press.answered()
    assert card.buttons


async def test_a_button_works_only_in_its_chat_and_on_its_message(phone: Phone) -> None:
    group = phone.api.group(-100500, "Team", members=[phone.owner])
    card = await card_of(phone)
    await phone.owner.says("/sessions", chat=group)
    there = await group.shows("maker")
    elsewhere = phone.owner._press(there, data_of(card, "Allow"))
    assert "another chat" in await elsewhere.answered()
    await phone.owner.says("/sessions")
    here = await phone.owner.chat.shows("1 session")
    beside = phone.owner._press(here, data_of(card, "Allow"))
    assert "another message" in await beside.answered()
    assert card.buttons


async def test_every_copy_of_a_card_can_be_pressed_and_becomes_true(
    phone: Phone, workdir: Path
) -> None:
    phone.api.fail("sendMessage", how=Drop.AFTER, where=lambda call: "asks" in call["text"])
    await card_of(phone)
    second = await phone.owner.chat.shows("(repeat)")
    first = next(message for message in phone.owner.chat.of_bot if "asks" in message.text)
    assert data_of(first, "Allow") == data_of(second, "Allow")
    press = await phone.owner.presses("Allow", first)
    assert "Allowed once by owner" in await press.answered()
    await eventually(lambda: "result seen" in first.text and "result seen" in second.text, 20)
    assert (workdir / "made").exists()
    late = phone.owner._press(second, press.data)
    assert "Already allowed by owner" in await late.answered()


async def test_a_copy_that_is_pressed_too_late_becomes_true_all_the_same(phone: Phone) -> None:
    phone.api.fail("sendMessage", how=Drop.AFTER, where=lambda call: "asks" in call["text"])
    await card_of(phone)
    second = await phone.owner.chat.shows("(repeat)")
    first = next(message for message in phone.owner.chat.of_bot if "asks" in message.text)
    await phone.owner.presses("Allow", second)
    await eventually(lambda: "result seen" in second.text, 20)
    assert first.buttons
    press = await phone.owner.presses("Deny", first)
    assert "Already allowed by owner" in await press.answered()
    await eventually(lambda: first.text == second.text and not first.buttons, 20)


async def test_a_stop_that_comes_too_late_says_that_something_has_changed(
    script: Script, phone: Phone
) -> None:
    gate = Gate()
    script.on("work", say("I begin. "), gate, say("I am done."))
    await phone.owner.says("/new --fg --name first work")
    running = await phone.owner.chat.shows(
        lambda message: message.button_labels == ["Stop"] and "I begin" in message.text, timeout=20
    )
    stop = data_of(running, "Stop")
    gate.open()
    await eventually(lambda: "Stop" not in running.button_labels, 20)
    assert "has changed since" in await phone.owner._press(running, stop).answered()


async def test_whoever_lost_their_role_meanwhile_decides_nothing(
    sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/sessions")
        await phone.owner.says("Fix it")
        offer = await phone.owner.chat.shows("Start one with this")
    people: list[dict[str, Any]] = [
        {"name": "owner", "role": "viewer", "telegram": OWNER},
        {"name": "boss", "role": "admin", "telegram": 1009},
    ]
    async with phone_of(sandbox, workdir, api, people=people) as phone:
        await phone.owner.presses("Start one with this", offer)
        await phone.owner.chat.shows("You may not")


async def test_a_finger_that_trembles_starts_one_session(
    model: ScriptedModel, phone: Phone
) -> None:
    await phone.owner.says("Fix the tests")
    await phone.owner.chat.shows("Start one with this")
    first = await phone.owner.presses("Start one with this")
    second = await phone.owner.presses_again(first)
    assert await second.answered() == "Pressed twice: the first press counts."
    await phone.owner.chat.shows("You said: Fix the tests", timeout=20)
    assert model.prompts() == ["Fix the tests"]


AWAY = "You pressed “Start one with this” while I was away. Press it again if you still want it."


async def offered(phone: Phone) -> Message:
    await phone.owner.says("Fix the tests")
    return await phone.owner.chat.shows("Start one with this")


async def test_a_press_from_long_before_the_start_is_asked_about_and_not_obeyed(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with phone_of(sandbox, workdir, api) as phone:
        offer = await offered(phone)
    await phone.owner.presses("Start one with this", offer)
    api.expire_callbacks()
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.chat.shows(AWAY, timeout=20)
        assert not model.prompts()
        await phone.owner.presses("Start one with this", offer)
        await phone.owner.chat.shows("You said: Fix the tests", timeout=20)
    assert model.prompts() == ["Fix the tests"]


async def test_a_press_just_before_the_start_is_obeyed(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with phone_of(sandbox, workdir, api) as phone:
        offer = await offered(phone)
    press = await phone.owner.presses("Start one with this", offer)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.chat.shows("You said: Fix the tests", timeout=20)
    assert press.toast == ""


async def test_a_press_while_telegram_could_not_be_reached_for_long_is_asked_about(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    clock = TravelClock(datetime.now(UTC))
    async with (
        BotApi(clock=clock.monotonic, now=clock.timestamp) as api,
        phone_of(sandbox, workdir, api, clock=clock) as phone,
    ):
        offer = await offered(phone)
        await api.goes_down()
        await phone.owner.presses("Start one with this", offer)
        clock.jump(hours=2)
        await api.comes_back()
        await phone.owner.chat.shows(AWAY, timeout=40)
        assert not model.prompts()


async def test_a_press_before_the_start_waits_for_the_words_before_it(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with phone_of(sandbox, workdir, api) as phone:
        offer = await offered(phone)
        await phone.owner.says("/new --fg --name first hello")
        await phone.owner.chat.shows("You said: hello", timeout=20)
    await phone.owner.sends_document("notes.txt", b"notes", "read this")
    api.fail("getFile", how=hang(0.5))
    await phone.owner.presses("Start one with this", offer)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.chat.shows("You said: Fix the tests", timeout=20)
        events = [event.payload for event in await phone.daemon.log.events(limit=1000)]
    said = [p.text for p in events if isinstance(p, e.UserMessage)]
    assert said[0] == "hello"
    assert [text.partition("\n")[0] for text in said[1:]] == ["read this", "Fix the tests"]
