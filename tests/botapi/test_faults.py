from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from telegram import Bot
from telegram.error import NetworkError, RetryAfter, TelegramError, TimedOut

from . import BotApi, Drop, Person, hang, status


async def test_a_request_dropped_before_is_never_processed(
    bot: Bot, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=Drop.BEFORE)
    with pytest.raises(NetworkError):
        await bot.send_message(ada.id, "hello")
    assert ada.chat.messages == []
    await bot.send_message(ada.id, "hello")


async def test_a_request_dropped_after_is_processed_unanswered(
    bot: Bot, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=Drop.AFTER)
    with pytest.raises(NetworkError):
        await bot.send_message(ada.id, "hello")
    await ada.chat.shows("hello")
    assert [call.outcome for call in api.calls.of("sendMessage")] == [Drop.AFTER.value]


async def test_a_gateway_may_be_bad(bot: Bot, api: BotApi, ada: Person) -> None:
    api.fail(None, times=2, how=status(502))
    for _ in range(2):
        with pytest.raises(NetworkError, match="Bad Gateway"):
            await bot.send_message(ada.id, "hello")
    await bot.send_message(ada.id, "hello")


async def test_telegram_may_ask_to_wait_for_reasons_of_its_own(
    bot: Bot, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=status(429, retry_after=7))
    with pytest.raises(RetryAfter) as refused:
        await bot.send_message(ada.id, "hello")
    assert refused.value.retry_after == timedelta(seconds=7)
    assert api.flooded == 0


async def test_an_answer_may_come_too_late(bot: Bot, api: BotApi, ada: Person) -> None:
    api.fail("sendMessage", how=hang(30))
    with pytest.raises(TimedOut):
        await bot.send_message(ada.id, "hello", read_timeout=0.05)
    await ada.chat.shows("hello")


async def test_a_request_may_hang_unprocessed(bot: Bot, api: BotApi, ada: Person) -> None:
    api.fail("sendMessage", how=hang(0.01, processed=False))
    with pytest.raises(NetworkError):
        await bot.send_message(ada.id, "hello")
    assert ada.chat.messages == []


async def test_a_fault_may_be_for_one_chat_or_one_text(bot: Bot, api: BotApi, ada: Person) -> None:
    bob = api.person(8, "Bob")
    api.fail("sendMessage", chat=bob.id, times=None)
    api.fail("sendMessage", where=lambda params: "bad" in params["text"])
    await bot.send_message(ada.id, "good")
    for chat, text in ((bob.id, "good"), (ada.id, "bad")):
        with pytest.raises(NetworkError):
            await bot.send_message(chat, text)
    api.calm()
    await bot.send_message(bob.id, "good")


async def test_an_update_whose_delivery_is_lost_comes_again(
    bot: Bot, api: BotApi, ada: Person
) -> None:
    await ada.says("hello")
    api.fail("getUpdates", how=Drop.AFTER)
    with pytest.raises(NetworkError):
        await bot.get_updates()
    assert len(await bot.get_updates()) == 1


async def weather(seed: int) -> list[str]:
    async with BotApi(limits=None) as api, Bot(api.token, api.base_url) as bot:
        ada = api.person(7, "Ada")
        api.chaos(seed, before=0.2, after=0.2, bad_gateway=0.2, flood=0.2)
        for number in range(40):
            try:
                await bot.send_message(ada.id, str(number))
            except TelegramError:
                continue
        api.calm()
        await bot.send_message(ada.id, "calm")
        return [call.outcome for call in api.calls.of("sendMessage")]


async def test_chaos_is_the_same_for_the_same_seed() -> None:
    outcomes = await weather(5)
    assert outcomes == await weather(5)
    assert len(set(outcomes)) == 5
    assert outcomes[-1] == "ok"


async def test_telegram_may_go_down_and_come_back(bot: Bot, api: BotApi, ada: Person) -> None:
    await bot.send_message(ada.id, "before")
    await api.goes_down()
    with pytest.raises(NetworkError):
        await bot.send_message(ada.id, "during")
    await api.comes_back()
    await bot.send_message(ada.id, "after")
    assert ada.chat.text() == "Bot: before\nBot: after"


async def test_a_poll_is_cut_when_telegram_goes_down(bot: Bot, api: BotApi) -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        polling = tasks.create_task(cut_off(bot))
        await bot.get_me()
        await api.goes_down()
    assert polling.result()


async def cut_off(bot: Bot) -> bool:
    try:
        await bot.get_updates(timeout=30)
    except NetworkError:
        return True
    return False
