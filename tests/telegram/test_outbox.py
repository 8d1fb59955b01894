"""What has to be shown is shown: once, or marked as a repetition; in order; whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.clock import ManualClock
from claude_sessions.telegram.letters import File
from tests.botapi import BotApi, Drop, Person, status
from tests.telegram.post import ADA, BOT, STOP, outbox_in, shown, texts, waiting, words
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def ada(api: BotApi) -> Person:
    return api.person(ADA.chat, "Ada")


async def test_a_letter_is_kept_until_telegram_has_it_and_is_then_sent_once(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    await api.goes_down()
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Hello"))
        await eventually(lambda: any(lane.letters for lane in outbox._lanes.values()))
    await api.comes_back()
    async with outbox_in(tmp_path, api) as outbox:
        await ada.chat.shows("Hello")
        await eventually(lambda: not waiting(outbox))
    assert texts(api) == ["Hello"]


async def test_a_lost_answer_makes_one_repetition_and_it_says_so(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=Drop.AFTER)
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Hello"))
        await ada.chat.shows("(repeat)")
        await eventually(lambda: not waiting(outbox))
    assert texts(api) == ["Hello", "Hello\n(repeat)"]


async def test_nobody_can_know_what_became_of_a_request_without_an_answer(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=Drop.BEFORE)
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Hello"))
        await ada.chat.shows("Hello\n(repeat)")


async def test_a_repetition_that_is_sent_away_is_still_one_when_it_comes_again(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=Drop.AFTER)
    api.fail("sendMessage", how=status(429, retry_after=1))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Hello"))
        await eventually(lambda: len(texts(api)) == 2)
    assert texts(api) == ["Hello", "Hello\n(repeat)"]


async def test_what_was_never_sent_is_no_repetition(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=status(429, retry_after=1))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Hello"))
        await ada.chat.shows("Hello")
    assert texts(api) == ["Hello"]


async def test_a_daemon_that_died_while_it_sent_marks_the_repetition(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Hello"))
        await eventually(lambda: not waiting(outbox))
        letter = outbox.mail.letter(1)
        assert letter is not None
        # As it is when the id of the message was not stored any more.
        await outbox._change(lambda mail: mail.lost(BOT, ADA.chat, letter.messages[0]))
        await outbox._change(lambda mail: mail._db.execute("UPDATE letters SET shown = 0"))
    async with outbox_in(tmp_path, api):
        await ada.chat.shows("Hello\n(repeat)")


async def test_what_changed_just_now_has_waited_since_then(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    clock = ManualClock()
    async with outbox_in(tmp_path, api, clock=clock, close_seconds=0) as outbox:
        await outbox.put(ADA, "k", words("Asks"), open=True)
        await ada.chat.shows("Asks")
        await eventually(lambda: not outbox.depth)
        clock.advance(7200)
        api.fail("editMessageText", how=status(429, retry_after=600))
        await outbox.put(ADA, "k", words("Decided"), open=True)
        edited = clock.now().timestamp()
        assert outbox.oldest == edited
        clock.advance(60)
        await outbox.put(ADA, "k", words("Decided, and given"))
        assert outbox.oldest == edited
        assert [letter.at for letter in waiting(outbox)] == [edited]


async def test_nothing_overtakes_while_telegram_is_away(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        await api.goes_down()
        for number in range(3):
            letter = await outbox.put(ADA, f"k{number}", words(f"{number}"))
            await eventually(lambda: outbox._lanes[ADA.chat]._retry_at > 0)
        assert letter.failures == 0
        await api.comes_back()
        outbox.back_online()
        await eventually(lambda: not waiting(outbox))
    assert texts(api) == ["0", "1", "2"]


async def test_whoever_begins_again_sends_nothing_twice(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        outbox.begin()
        outbox.begin()
        for number in range(4):
            await outbox.put(ADA, f"k{number}", words(f"{number}"))
        await eventually(lambda: not waiting(outbox))
    assert texts(api) == ["0", "1", "2", "3"]


async def test_a_running_turn_can_be_stopped_only_where_its_message_is_known(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=Drop.AFTER)
    async with outbox_in(tmp_path, api) as outbox:
        letter = await outbox.put(ADA, "turn:s1", words("Runs", STOP, late=True), open=True)
        outbox.grow(letter, lambda: words("Runs on", STOP, late=True))
        await ada.chat.shows(lambda message: message.buttons)
        first, second = shown(api)
        assert (first.buttons, second.button_labels) == ([], ["Stop"])


async def test_another_bot_does_not_finish_what_this_one_began(tmp_path: Path, api: BotApi) -> None:
    async with outbox_in(tmp_path, api, bot=77) as outbox:
        await outbox.put(ADA, "k", words("Asks"), open=True, seq=5)
        assert outbox.mail.oldest_open() == 5
    async with outbox_in(tmp_path, api) as outbox:
        assert outbox.mail.oldest_open() is None


async def test_a_copy_that_turned_up_becomes_true_also_where_a_file_hangs_on_it(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=Drop.AFTER)
    diff = File(name="Edit.diff", text="+ a")
    async with outbox_in(tmp_path, api) as outbox:
        letter = await outbox.put(ADA, "card:a1", words("Asks", STOP, file=diff), open=True)
        await ada.chat.shows("Asks\n(repeat)")
        first = shown(api)[0]
        await eventually(lambda: not letter.waits)
        await outbox.adopt(letter.id, ADA.chat, first.id)
        await outbox.put(ADA, "card:a1", words("Decided", file=diff))
        await eventually(lambda: not waiting(outbox))
    assert (first.text, first.buttons) == ("Decided", [])
