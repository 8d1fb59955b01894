from __future__ import annotations

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest

from . import BotApi, Person, Press

TOO_OLD = "Query is too old and response timeout expired or query id is invalid"


@pytest.fixture
async def press(bot: Bot, ada: Person) -> Press:
    allow = InlineKeyboardMarkup([[InlineKeyboardButton("Allow", callback_data="a:1")]])
    await bot.send_message(ada.id, "May I?", reply_markup=allow)
    return await ada.presses("a:1")


async def test_the_newest_button_of_that_label_is_pressed(bot: Bot, ada: Person) -> None:
    for data in ("old", "new"):
        row = [InlineKeyboardButton("Allow", callback_data=data)]
        await bot.send_message(ada.id, data, reply_markup=InlineKeyboardMarkup([row]))
    assert (await ada.presses("Allow")).data == "new"
    old = await ada.chat.shows("old")
    assert (await ada.presses("Allow", message=old)).data == "old"


async def test_a_press_is_answered_once(bot: Bot, press: Press) -> None:
    await bot.answer_callback_query(press.id, "Allowed", show_alert=True)
    assert (press.toast, press.alert) == ("Allowed", True)
    with pytest.raises(BadRequest, match=TOO_OLD):
        await bot.answer_callback_query(press.id)


async def test_a_toast_has_200_characters(bot: Bot, press: Press) -> None:
    with pytest.raises(BadRequest, match="Message_too_long"):
        await bot.answer_callback_query(press.id, "x" * 201)
    await bot.answer_callback_query(press.id, "x" * 200)


async def test_an_unknown_press_cannot_be_answered(bot: Bot) -> None:
    with pytest.raises(BadRequest, match=TOO_OLD):
        await bot.answer_callback_query("5")


async def test_presses_can_be_made_to_expire(bot: Bot, api: BotApi, press: Press) -> None:
    api.expire_callbacks()
    with pytest.raises(BadRequest, match=TOO_OLD):
        await bot.answer_callback_query(press.id)


async def test_presses_expire_with_time() -> None:
    clock = [0.0]
    async with BotApi(clock=lambda: clock[0]) as api, Bot(api.token, api.base_url) as bot:
        ada = api.person(7, "Ada")
        row = [InlineKeyboardButton("Allow", callback_data="a")]
        await bot.send_message(ada.id, "May I?", reply_markup=InlineKeyboardMarkup([row]))
        press = await ada.presses("Allow")
        clock[0] = 61.0
        with pytest.raises(BadRequest, match=TOO_OLD):
            await bot.answer_callback_query(press.id)


async def test_a_press_that_is_never_answered_fails_the_test(press: Press) -> None:
    with pytest.raises(AssertionError, match="'a:1' was never answered"):
        await press.answered(timeout=0.01)


async def test_a_button_can_be_pressed_twice(bot: Bot, ada: Person, press: Press) -> None:
    await bot.edit_message_reply_markup(ada.id, press.message.id)
    again = await ada.presses_again(press)
    assert again.id != press.id
    assert len(await bot.get_updates()) == 2
