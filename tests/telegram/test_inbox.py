"""What people say is written down before Telegram hears that we have it, and is handled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.telegram.inbox import CALM_SECONDS, SLOWEST
from tests.botapi import BotApi, Drop, Person, status
from tests.telegram.ear import HastyClock, Heard, inbox_in
from tests.telegram.post import ADA, BOT
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def ada(api: BotApi) -> Person:
    return api.person(ADA.chat, "Ada")


async def test_an_update_is_written_down_before_it_is_acknowledged(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard = Heard()
    async with inbox_in(tmp_path, api, heard) as inbox:
        api.fail("getUpdates", times=None, how=Drop.BEFORE, where=lambda p: bool(p.get("offset")))
        await ada.says("one")
        await eventually(lambda: heard.texts == ["one"])
        assert api.pending == 1
        assert [stored.state for stored in inbox.mail.unfinished(BOT)] == ["new"]
        api.calm()
        await api.acknowledged()


async def test_what_is_delivered_twice_is_handled_once(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard = Heard()
    async with inbox_in(tmp_path, api, heard) as inbox:
        api.fail("getUpdates", times=2, how=Drop.BEFORE, where=lambda p: bool(p.get("offset")))
        await ada.says("one")
        await eventually(lambda: heard.texts)
        await inbox.mark([heard.updates[0].update_id], "done")
        inbox._offset = None  # as after a restart: it comes again
        await ada.says("two")
        await api.acknowledged()
        await eventually(lambda: len(heard.texts) > 1)
    assert heard.texts == ["one", "two"]


async def test_numbers_may_begin_anew_even_where_there_was_one_before(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard = Heard()
    async with inbox_in(tmp_path, api, heard) as inbox:
        for number, text in enumerate(["one", "two", "three"]):
            api.restart_update_ids(1000 if number < 2 else 7)
            await ada.says(text)
            await eventually(lambda: heard.texts[-1:] == [text])  # noqa: B023
            await inbox.mark([heard.updates[-1].update_id], "done")
            await api.acknowledged()
    assert heard.texts == ["one", "two", "three"]


async def test_numbers_that_begin_anew_swallow_nothing_that_is_not_done(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard = Heard()
    async with inbox_in(tmp_path, api, heard) as inbox:
        for text in ("one", "two", "three"):
            api.restart_update_ids(1000)
            await ada.says(text)
            await eventually(lambda: heard.texts[-1:] == [text])  # noqa: B023
            await api.acknowledged()
        await inbox.mark([heard.updates[1].update_id], "done")
        left = [inbox.read(stored) for stored, _ in await inbox.unfinished()]
    assert [update.update_id for update in left if update] == [
        heard.updates[0].update_id,
        heard.updates[2].update_id,
    ]
    assert [update.message.text for update in left if update and update.message] == ["one", "three"]


async def test_one_whose_number_was_taken_is_handled_once_however_often_it_is_delivered(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard = Heard()
    async with inbox_in(tmp_path, api, heard) as inbox:
        await ada.says("one")
        await eventually(lambda: heard.texts == ["one"])
        await api.acknowledged()
        await inbox.mark([heard.updates[0].update_id], "done")
        api.restart_update_ids(1000)
        api.fail("getUpdates", times=2, how=Drop.BEFORE, where=lambda p: bool(p.get("offset")))
        await ada.says("two")
        await eventually(lambda: len(heard.texts) > 1)
        await inbox.mark([heard.updates[1].update_id], "done")
        inbox._offset = None  # as after a restart: it comes again
        await ada.says("three")
        await api.acknowledged()
        await eventually(lambda: "three" in heard.texts)
    assert heard.texts == ["one", "two", "three"]


async def test_one_that_cannot_be_read_does_not_make_us_deaf(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard = Heard()
    async with inbox_in(tmp_path, api, heard) as inbox:
        api._cloud.updates.add("message", {"message_id": 5})
        api._cloud.updates.add("callback_query", {"id": "1", "from": 7})
        api._cloud.updates.add("message", {"chat": []})
        await ada.says("heard")
        await eventually(lambda: "heard" in heard.texts)
        await eventually(lambda: len(inbox.mail.unfinished(BOT)) == 1)
        await api.acknowledged()
    assert heard.troubles == []


async def test_the_words_of_a_message_that_is_strange_otherwise_are_heard(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard = Heard()
    async with inbox_in(tmp_path, api, heard):
        message = {"message_id": 5, "date": 1, "chat": ada.chat.json(), "from": ada.user}
        strange = {**message, "text": "hello", "poll": {"id": "1"}}
        api._cloud.updates.add("message", strange)
        await eventually(lambda: heard.texts == ["hello"])


async def test_a_second_poller_is_reported_once_and_waited_out(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard, clock = Heard(), HastyClock()
    async with inbox_in(tmp_path, api, heard, clock) as inbox:
        for number in range(3):  # each of the two gets a turn now and then
            api.fail("getUpdates", how=status(409))
            await ada.says(f"{number}")
            await eventually(lambda: len(clock.slept) == number + 1)  # noqa: B023
        assert len(heard.troubles) == 1
        assert "Another program polls" in str(inbox.trouble)
        clock.ahead += CALM_SECONDS + 1
        await ada.says("last")
        await eventually(lambda: heard.texts == ["0", "1", "2", "last"])
        await eventually(lambda: inbox.trouble is None)
    assert heard.troubles[1:] == [None]


async def test_a_token_that_is_not_valid_is_said_once_and_works_when_it_is_again(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard, clock = Heard(), HastyClock()
    api.revoke_token()
    async with inbox_in(tmp_path, api, heard, clock) as inbox:
        await eventually(lambda: len(clock.slept) > 3)
        assert set(clock.slept) == {SLOWEST}
        assert len(heard.troubles) == 1
        assert "no longer accepts" in str(inbox.trouble)
        api._answering.token = api.token
        await ada.says("hello")
        await eventually(lambda: heard.texts == ["hello"])
        await eventually(lambda: inbox.trouble is None)


async def test_gateways_and_connections_that_fail_lose_nothing(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    heard, clock = Heard(), HastyClock()
    for fault in (status(502), Drop.BEFORE, Drop.AFTER, status(429, retry_after=99), status(500)):
        api.fail("getUpdates", how=fault)
    await ada.says("one")
    async with inbox_in(tmp_path, api, heard, clock):
        await eventually(lambda: heard.texts == ["one"])
        await ada.says("two")
        await eventually(lambda: heard.texts == ["one", "two"])
    assert clock.slept == [1.0, 2.0, 4.0, 99.0, 16.0]
