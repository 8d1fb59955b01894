from __future__ import annotations

from datetime import timedelta

import pytest
from telegram import Bot
from telegram.error import RetryAfter

from . import BotApi, Limits
from .limits import FloodControl

ADA, BOB, GROUP = 1, 2, -100


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def flood(clock: Clock) -> FloodControl:
    return FloodControl(Limits(), clock)


def test_a_private_chat_takes_five_at_once_then_one_a_second(
    flood: FloodControl, clock: Clock
) -> None:
    assert [flood.retry_after(ADA, private=True) for _ in range(6)] == [None] * 5 + [1]
    for _ in range(10):
        clock.now += 1.0
        assert flood.retry_after(ADA, private=True) is None


def test_asking_while_sent_away_adds_nothing(flood: FloodControl, clock: Clock) -> None:
    for _ in range(21):
        flood.retry_after(GROUP, private=False)
        clock.now += 0.5
    assert flood.retry_after(GROUP, private=False) == 50
    clock.now += 10.2
    assert flood.retry_after(GROUP, private=False) == 40
    clock.now += 39.8
    assert flood.retry_after(GROUP, private=False) is None


def test_a_group_takes_twenty_in_any_minute(flood: FloodControl, clock: Clock) -> None:
    for _ in range(20):
        assert flood.retry_after(GROUP, private=False) is None
        clock.now += 2.0
    assert flood.retry_after(GROUP, private=False) == 20


def test_one_chat_sent_away_leaves_the_others_alone(flood: FloodControl) -> None:
    for _ in range(6):
        flood.retry_after(ADA, private=True)
    assert flood.retry_after(BOB, private=True) is None


def test_all_chats_together_take_thirty_a_second(flood: FloodControl, clock: Clock) -> None:
    assert {flood.retry_after(chat, private=True) for chat in range(30)} == {None}
    assert flood.retry_after(30, private=True) == 1
    assert flood.retry_after(31, private=True) == 1
    clock.now += 1.0
    assert flood.retry_after(31, private=True) is None


async def test_the_bot_is_sent_away_with_the_seconds_to_wait(clock: Clock) -> None:
    async with BotApi(clock=clock) as api, Bot(api.token, api.base_url) as bot:
        ada = api.person(ADA, "Ada")
        sent = [await bot.send_message(ada.id, str(n)) for n in range(3)]
        await sent[0].edit_text("edited")
        await bot.send_chat_action(ada.id, "typing")
        with pytest.raises(RetryAfter) as refused:
            await sent[0].delete()
        assert (refused.value.retry_after, api.flooded) == (timedelta(seconds=1), 1)
        assert await bot.get_updates() == ()
        clock.now += 1
        await sent[0].delete()


async def test_limits_can_be_switched_off(bot: Bot, api: BotApi) -> None:
    ada = api.person(ADA, "Ada")
    for number in range(40):
        await bot.send_message(ada.id, str(number))
    assert api.flooded == 0
    api.limits = Limits(private_burst=1)
    await bot.send_message(ada.id, "one")
    with pytest.raises(RetryAfter):
        await bot.send_message(ada.id, "two")
