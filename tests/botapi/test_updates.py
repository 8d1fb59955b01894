from __future__ import annotations

import asyncio

import pytest
from telegram import Bot
from telegram.error import BadRequest, Conflict, InvalidToken

from . import BotApi, Person


async def texts(
    bot: Bot, *, offset: int | None = None, limit: int | None = None, seconds: int | None = None
) -> list[str | None]:
    updates = await bot.get_updates(offset=offset, limit=limit, timeout=seconds)
    return [update.message.text for update in updates if update.message]


async def test_what_is_not_acknowledged_is_delivered_again(bot: Bot, ada: Person) -> None:
    await ada.says("one")
    await ada.says("two")
    first, _ = await bot.get_updates()
    assert await texts(bot) == ["one", "two"]
    assert await texts(bot, offset=first.update_id + 1) == ["two"]
    assert await texts(bot) == ["two"]


async def test_a_limit_leaves_the_rest_for_later(bot: Bot, ada: Person) -> None:
    await ada.says("one")
    await ada.says("two")
    assert await texts(bot, limit=1) == ["one"]
    with pytest.raises(BadRequest, match="Limit is 101"):
        await bot.get_updates(limit=101)


async def test_a_negative_offset_counts_from_the_end(bot: Bot, ada: Person) -> None:
    for text in ("one", "two", "three"):
        await ada.says(text)
    assert await texts(bot, offset=-1) == ["three"]
    assert await texts(bot) == ["three"]


async def test_a_long_poll_ends_as_soon_as_somebody_says_something(bot: Bot, ada: Person) -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        polling = tasks.create_task(texts(bot, seconds=30))
        await asyncio.sleep(0)
        await ada.says("hello")
    assert polling.result() == ["hello"]


async def test_a_long_poll_without_news_ends_empty(bot: Bot) -> None:
    assert await bot.get_updates(timeout=1) == ()


async def test_a_second_poll_ends_the_first(bot: Bot, api: BotApi, ada: Person) -> None:
    async with Bot(api.token, api.base_url) as twin, asyncio.TaskGroup() as tasks:
        polls = [tasks.create_task(polled(each)) for each in (bot, twin)]
        await api.called("getUpdates", where=lambda call: not call.ok)
        await ada.says("hello")
    conflict = "Conflict: terminated by other getUpdates request"
    assert sorted(poll.result()[:48] for poll in polls) == [conflict, "hello"]


async def polled(bot: Bot) -> str:
    try:
        return str(*await texts(bot, seconds=30))
    except Conflict as error:
        return error.message


async def test_only_the_allowed_kinds_arrive(bot: Bot, ada: Person) -> None:
    await bot.get_updates(allowed_updates=["message"])
    said = await ada.says("one")
    await ada.edits(said, "two")
    [update] = await bot.get_updates()
    assert update.message is not None


async def test_ids_may_begin_again_below_the_offset(bot: Bot, api: BotApi, ada: Person) -> None:
    await ada.says("before")
    [old] = await bot.get_updates()
    await bot.get_updates(offset=old.update_id + 1)
    api.restart_update_ids(5)
    await ada.says("after")
    [new] = await bot.get_updates(offset=old.update_id + 1)
    assert new.update_id == 5
    assert await bot.get_updates(offset=6) == ()


async def test_acknowledging_can_be_waited_for(bot: Bot, api: BotApi, ada: Person) -> None:
    await ada.says("hello")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(api.acknowledged())
        [update] = await bot.get_updates()
        assert api.pending == 1
        await bot.get_updates(offset=update.update_id + 1)
    assert api.pending == 0


async def test_pending_updates_can_be_dropped(bot: Bot, ada: Person) -> None:
    await ada.says("hello")
    await bot.delete_webhook(drop_pending_updates=True)
    assert await bot.get_updates() == ()


async def test_a_revoked_token_is_refused_everywhere(bot: Bot, api: BotApi) -> None:
    api.revoke_token()
    with pytest.raises(InvalidToken, match="Unauthorized"):
        await bot.get_updates()


async def test_a_wrong_token_is_refused(api: BotApi) -> None:
    bot = Bot("123456:another", api.base_url)
    with pytest.raises(InvalidToken):
        await bot.initialize()
    await bot.shutdown()


async def test_an_unknown_method_is_not_found(bot: Bot) -> None:
    with pytest.raises(Exception, match="not found"):
        await bot.do_api_request("launchRocket")
