"""What Telegram will not take, or we cannot send: said as well as can be, and in nobody's way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from claude_sessions.clock import ManualClock
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.letters import Content, File
from claude_sessions.telegram.render import plain
from tests.botapi import BotApi, Drop, Person, status
from tests.telegram.post import ADA, STOP, bold, outbox_in, texts, waiting, words
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def ada(api: BotApi) -> Person:
    return api.person(ADA.chat, "Ada")


async def test_what_is_refused_as_it_looks_is_said_plainly(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=status(400), where=lambda params: bool(params.get("entities")))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", bold("Hello"))
        assert (await ada.chat.shows("Hello")).entities == []
        await eventually(lambda: not waiting(outbox))


async def test_what_is_refused_after_it_got_lost_is_not_dropped_in_silence(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", how=Drop.BEFORE)
    api.fail("sendMessage", times=2, how=status(400))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Hello"), session="s1")
        await ada.chat.shows("This could not be shown here. /output s1 has it.")


async def test_a_trouble_that_stays_is_said_once(tmp_path: Path, api: BotApi, ada: Person) -> None:
    clock = ManualClock()
    with capture_logs() as lines:
        async with outbox_in(tmp_path, api, clock=clock, close_seconds=0) as outbox:
            api.revoke_token()
            await outbox.put(ADA, "k", words("Hello"))
            await eventually(lambda: a_minute_later(clock) and len(levels(lines)) > 2)
    first, *later = levels(lines)
    assert (first, set(later)) == ("info", {"debug"})


def a_minute_later(clock: ManualClock) -> bool:
    clock.advance(60)
    return True


def levels(lines: Sequence[Mapping[str, object]]) -> list[object]:
    return [line["log_level"] for line in lines if line["event"] == "outbox.undelivered"]


async def test_what_can_never_be_shown_is_given_up_and_the_next_one_is_shown(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendMessage", times=3, how=status(400))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Never"))
        await outbox.put(ADA, "l", words("Next"))
        await ada.chat.shows("Next")
        await eventually(lambda: not waiting(outbox))
    assert texts(api) == ["Next"]


async def test_a_file_that_is_gone_holds_up_nothing(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        file = File(name="gone.txt", path=str(tmp_path / "gone.txt"))
        await outbox.put(ADA, "k", Content(parts=(), file=file))
        await outbox.put(ADA, "l", words("Next"))
        await ada.chat.shows("Next")
        await ada.chat.shows("gone.txt could not be sent. Ask for it again.")
        await eventually(lambda: not waiting(outbox))


async def test_a_letter_that_breaks_us_holds_up_nothing(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        broken = await outbox.put(ADA, "k", words("Broken", STOP))
        broken.tokens = {}  # a bug of ours
        await outbox.put(ADA, "l", words("Next"))
        await ada.chat.shows("Next")


async def test_a_message_that_somebody_deleted_is_sent_anew_when_it_matters(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Asks"), open=True)
        ada.chat.delete(await ada.chat.shows("Asks"))
        await outbox.put(ADA, "k", words("Decided"))
        await ada.chat.shows("Decided")
    assert texts(api) == ["Decided"]


async def test_an_answer_that_cannot_be_edited_in_is_sent_anew_and_no_dead_button_is_left(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("editMessageText", times=None, how=status(400))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Runs", STOP), open=True)
        await ada.chat.shows(lambda message: message.buttons)
        await outbox.put(ADA, "k", bold("Done"))
        answer = await ada.chat.shows("Done")
        await eventually(lambda: not waiting(outbox))
    assert answer.entities
    assert texts(api) == ["Done"]


async def test_what_can_neither_be_edited_nor_deleted_loses_its_button(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("editMessageText", times=None, how=status(400))
    api.fail("deleteMessage", times=None, how=status(400))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Runs", STOP), open=True)
        running = await ada.chat.shows(lambda message: message.buttons)
        await outbox.put(ADA, "k", bold("Done"))
        await eventually(lambda: not waiting(outbox))
    assert running.buttons == []
    assert texts(api) == ["Runs", "Done"]


async def test_a_turn_that_cannot_be_edited_as_it_runs_is_answered_below(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("editMessageText", times=None, how=status(400))
    async with outbox_in(tmp_path, api) as outbox:
        letter = await outbox.put(ADA, "k", words("Runs", STOP, late=True), open=True)
        outbox.grow(letter, lambda: words("Runs on", STOP, late=True))
        await eventually(lambda: letter.dismissed)
        await outbox.put(ADA, "k", bold("Done"))
        await eventually(lambda: not waiting(outbox))
    assert texts(api) == ["Done"]


async def test_a_file_that_is_refused_takes_no_words_with_it(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    api.fail("sendDocument", times=None, how=status(400))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Asks", STOP, file=File(name="a.diff", text="+ a")))
        asks = await ada.chat.shows("Asks\n(Its file could not be sent.)")
        await eventually(lambda: not waiting(outbox))
    assert asks.button_labels == ["Stop"]


async def test_what_shrank_and_grew_again_is_no_repetition(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    two = Content(parts=(plain("One"), plain("Two")))
    async with outbox_in(tmp_path, api) as outbox:
        for content in (two, words("One"), two):
            await outbox.put(ADA, "k", content, open=True)
            await eventually(lambda: all(each.shown == each.version for each in waiting(outbox)))
    assert texts(api) == ["One", "Two"]


async def test_what_is_the_same_already_is_no_trouble(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", words("Same"), open=True)
        await ada.chat.shows("Same")
    async with outbox_in(tmp_path, api) as outbox:  # it does not know any more what is shown
        await outbox.put(ADA, "k", words("Same", ring=True))
        await eventually(lambda: not waiting(outbox))
    assert api.calls.of("editMessageText")[0].outcome.startswith("Bad Request: message is not")
    assert texts(api) == ["Same"]


async def test_a_letter_of_another_version_of_us_does_not_keep_us_from_starting(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(Address(404), "k", words("Hello"))
        await outbox._change(lambda mail: mail._db.execute("UPDATE letters SET content = '{}'"))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "l", Content(parts=(plain("Next"),)))
        await ada.chat.shows("Next")


async def test_what_is_too_old_to_be_deleted_keeps_nothing_to_press(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    asks = Content(parts=(plain("A plan"), plain("and its end")), actions=(STOP,))
    async with outbox_in(tmp_path, api) as outbox:
        await outbox.put(ADA, "k", asks, open=True)
        last = await ada.chat.shows("and its end")
        last.date -= 3 * 86400
        await outbox.put(ADA, "k", words("Decided"))
        await eventually(lambda: not waiting(outbox))
    assert (last.text, last.buttons) == ("…", [])
    assert texts(api) == ["Decided", "…"]


async def test_a_running_turn_that_somebody_deleted_comes_back_with_its_end(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        letter = await outbox.put(ADA, "k", words("Runs"), open=True)
        ada.chat.delete(await ada.chat.shows("Runs"))
        outbox.grow(letter, lambda: words("Runs on"))
        await eventually(lambda: letter.dismissed)
        outbox.grow(letter, lambda: words("Runs on and on"))
        await outbox.put(ADA, "l", words("Next"))
        await ada.chat.shows("Next")
        assert texts(api) == ["Next"]
        await outbox.put(ADA, "k", words("Done"))
        await ada.chat.shows("Done")
