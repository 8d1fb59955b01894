"""The stand-in as everybody else uses it: people on one side, a real bot on the other."""

from __future__ import annotations

import asyncio

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup

from . import BotApi, Person


def keyboard(*labels: str) -> InlineKeyboardMarkup:
    row = [InlineKeyboardButton(label, callback_data=label.lower()) for label in labels]
    return InlineKeyboardMarkup([row])


async def test_what_a_person_says_reaches_the_bot(bot: Bot, ada: Person) -> None:
    said = await ada.says("/launch fix the tests")
    [update] = await bot.get_updates()
    assert update.message is not None
    assert update.message.text == "/launch fix the tests"
    assert update.message.message_id == said.id
    assert update.message.entities[0].type == "bot_command"


async def test_what_the_bot_sends_is_on_the_screen(bot: Bot, api: BotApi, ada: Person) -> None:
    sent = await bot.send_message(ada.id, "Working…", reply_markup=keyboard("Stop"))
    await sent.edit_text("Done.")
    message = await ada.chat.shows("Done.")
    assert message.edits == 1
    assert api.chat(ada.id).text() == "Bot: Done."


async def test_a_screen_that_never_shows_it_fails_with_what_it_shows(bot: Bot, ada: Person) -> None:
    await bot.send_message(ada.id, "Hello")
    with pytest.raises(AssertionError, match="nothing shows 'Goodbye':\nBot: Hello"):
        await ada.chat.shows("Goodbye", timeout=0.01)


async def test_a_press_is_answered_with_a_toast(bot: Bot, ada: Person) -> None:
    await bot.send_message(ada.id, "May I?", reply_markup=keyboard("Allow", "Deny"))
    press = await ada.presses("Allow")
    [update] = await bot.get_updates()
    assert update.callback_query is not None
    assert update.callback_query.data == "allow"
    await update.callback_query.answer("Allowed")
    assert await press.answered() == "Allowed"


async def test_a_person_can_be_waited_for(bot: Bot, ada: Person) -> None:
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(ada.chat.shows("Hello"))
        tasks.create_task(bot.send_message(ada.id, "Hello"))
    assert waiting.result().text == "Hello"


async def test_a_button_that_is_not_there_cannot_be_pressed(ada: Person) -> None:
    with pytest.raises(AssertionError, match="no button 'Allow'"):
        await ada.presses("Allow")
