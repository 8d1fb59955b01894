"""One chat's way out: its order, its pace, and nobody else's concern."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.clock import ManualClock
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.outbox import Outbox
from tests.botapi import BotApi, Person, hang, status
from tests.telegram.post import ADA, STOP, outbox_in, texts, waiting, words
from tests.waiting import eventually

BOB = Address(1002)
TEAM = Address(-100500)


@pytest.fixture(autouse=True)
def ada(api: BotApi) -> Person:
    return api.person(ADA.chat, "Ada")


@pytest.fixture(autouse=True)
def bob(api: BotApi) -> Person:
    return api.person(BOB.chat, "Bob")


async def spread(outbox: Outbox, bob: Person, text: str) -> None:
    """Whatever was due before this has had its turn once Bob has it."""
    await outbox.put(BOB, text, words(text))
    await bob.chat.shows(text)


async def test_a_pause_is_kept_to_the_second_and_is_no_other_chats_concern(
    tmp_path: Path, api: BotApi, ada: Person, bob: Person
) -> None:
    clock = ManualClock()
    api.fail("sendMessage", chat=ADA.chat, how=status(429, retry_after=3600))
    async with outbox_in(tmp_path, api, clock=clock, close_seconds=0) as outbox:
        await outbox.put(ADA, "k", words("Late"))
        await eventually(lambda: "3600" in outbox.budget.left(ADA.chat, clock.monotonic()))
        await spread(outbox, bob, "At once")
        clock.advance(3599.9)
        await spread(outbox, bob, "Not yet")
        assert texts(api) == []
        clock.advance(0.1)
        await ada.chat.shows("Late")
    assert texts(api) == ["Late"]


async def test_the_newest_edit_wins(tmp_path: Path, api: BotApi, ada: Person) -> None:
    clock = ManualClock()
    api.fail("editMessageText", how=status(429, retry_after=30))
    async with outbox_in(tmp_path, api, clock=clock, close_seconds=0) as outbox:
        await outbox.put(ADA, "k", words("One"), open=True)
        shown = await ada.chat.shows("One")
        await outbox.put(ADA, "k", words("Two"), open=True)
        await eventually(lambda: "nothing for" in outbox.budget.left(ADA.chat, clock.monotonic()))
        for text in ("Three", "Four", "Five"):
            await outbox.put(ADA, "k", words(text), open=True)
        clock.advance(30)
        await ada.chat.shows("Five")
        assert shown.edits == 1


async def test_what_matters_goes_before_what_only_shows_progress(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    clock = ManualClock()
    async with outbox_in(tmp_path, api, clock=clock, close_seconds=0) as outbox:
        turn = await outbox.put(ADA, "turn:s1", words("Runs"), open=True)
        await eventually(lambda: not turn.waits)
        outbox.budget.block(ADA.chat, clock.monotonic(), 10)
        outbox.grow(turn, lambda: words("Runs on"))
        await outbox.put(ADA, "card:a1", words("Asks", STOP))
        clock.advance(10)
        await ada.chat.shows("Runs on")
    methods = [call.method for call in api.calls if call.method != "sendChatAction"]
    assert methods == ["sendMessage", "sendMessage", "editMessageText"]


async def test_one_chat_that_hangs_holds_up_no_other(
    tmp_path: Path, api: BotApi, bob: Person
) -> None:
    api.fail("sendMessage", chat=ADA.chat, how=hang(30))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Hangs"))
        await spread(outbox, bob, "Goes")
        assert waiting(outbox)[0].chat == "1001"


async def test_a_hundred_letters_to_many_chats_never_make_telegram_angry(
    tmp_path: Path, api: BotApi
) -> None:
    people = [api.person(2000 + number, f"P{number}") for number in range(40)]
    async with outbox_in(tmp_path, api, close_seconds=20) as outbox:
        for round_ in range(2):
            for person in people:
                await outbox.put(Address(person.id), f"k{round_}", words(f"{round_}"))
    assert all([m.text for m in person.chat.of_bot] == ["0", "1"] for person in people)
    assert api.flooded == 0


async def test_groups_see_no_typing_and_people_do(tmp_path: Path, api: BotApi, ada: Person) -> None:
    team = api.group(TEAM.chat, "Team", members=[ada])
    async with outbox_in(tmp_path, api) as outbox:
        outbox.typing(TEAM, "s1")
        outbox.typing(ADA, "s2")
        await eventually(lambda: ada.chat.actions)
        await outbox.put(TEAM, "k", words("Hello"))
        await team.shows("Hello")
        assert team.actions == []


async def test_a_person_who_blocked_the_bot_gets_what_waited_once_they_are_back(
    tmp_path: Path, api: BotApi, ada: Person, bob: Person
) -> None:
    told: list[tuple[int, str]] = []
    async with outbox_in(tmp_path, api) as outbox:
        outbox.trouble = lambda chat, why: told.append((chat, why))
        api.block(ada)
        for number in range(3):
            await outbox.put(ADA, f"k{number}", words(f"{number}"))
        await eventually(lambda: told)
        await spread(outbox, bob, "Goes")
        api.unblock(ada)
        outbox.heard_from(ada.id)
        await eventually(lambda: not waiting(outbox))
    assert texts(api) == ["0", "1", "2"]
    assert told == [(ADA.chat, "Forbidden: bot was blocked by the user")]
