from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
from telegram import User

from claude_sessions.settings import TelegramSettings
from claude_sessions.setup.bot import ChosenBot
from claude_sessions.setup.dialogue import Dialogue
from tests.botapi import BotApi, Person
from tests.waiting import eventually


class Heard(Dialogue):
    """Only listens; nothing is asked here."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str = "") -> None:
        self.lines.append(text)

    async def code(self) -> str:
        await eventually(lambda: any("It is good for" in line for line in self.lines))
        return next(line.strip() for line in self.lines if re.fullmatch(r"\s*\d{6}\s*", line))


@pytest.fixture
async def api() -> AsyncIterator[BotApi]:
    async with BotApi(limits=None) as serving:
        yield serving


@pytest.fixture
def ada(api: BotApi) -> Person:
    return api.person(7, "Ada")


@pytest.fixture
def bot(api: BotApi) -> ChosenBot:
    settings = TelegramSettings(base_url=api.base_url)
    return ChosenBot(token=api.token, name="sessions_bot", settings=settings)


async def paired_with(bot: ChosenBot, person: Person, *known: Person) -> User | None:
    heard = Heard()
    async with asyncio.timeout(15), asyncio.TaskGroup() as tasks:
        pairing = tasks.create_task(bot.pair(heard, {each.id for each in known}))
        await person.says(await heard.code())
    return pairing.result()


async def test_a_code_that_nobody_sends_expires(bot: ChosenBot) -> None:
    assert await bot.pair(Heard(), (), lifetime=0.05) is None


async def test_what_came_before_is_neither_tried_nor_answered(
    bot: ChosenBot, api: BotApi, ada: Person
) -> None:
    eve = api.person(666, "Eve")
    for _ in range(250):
        await eve.says("123456")
    await ada.says("/start")
    owner = await paired_with(bot, ada)
    assert owner is not None
    assert owner.id == ada.id
    assert not any(message.sender["is_bot"] for message in eve.chat.messages)
    assert api.pending == 0


async def test_a_waiting_message_of_somebody_known_is_left_for_the_daemon(
    bot: ChosenBot, api: BotApi, ada: Person
) -> None:
    await api.person(666, "Eve").says("let me in")
    bob = api.person(8, "Bob")
    await bob.says("fix the tests")
    owner = await paired_with(bot, ada, bob)
    assert owner is not None
    assert api.pending == 2  # that, and the code behind it, which only Ada's id may say


async def test_an_owner_who_pairs_again_leaves_no_code_behind(
    bot: ChosenBot, api: BotApi, ada: Person
) -> None:
    assert await paired_with(bot, ada, ada)
    assert api.pending == 0


async def test_the_code_counts_only_in_a_private_chat(
    bot: ChosenBot, api: BotApi, ada: Person
) -> None:
    heard, group = Heard(), api.group(-1001, "All of us", members=[ada])
    async with asyncio.timeout(15), asyncio.TaskGroup() as tasks:
        pairing = tasks.create_task(bot.pair(heard, ()))
        code = await heard.code()
        await ada.says(code, group)
        await api.acknowledged()
        assert not pairing.done()
        await ada.says(code)
    assert pairing.result() is not None
