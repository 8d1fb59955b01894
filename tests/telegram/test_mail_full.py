"""No room on the disk: people hear of it in the chat, and nothing that is out is forgotten."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from claude_sessions.errors import SessionsError
from claude_sessions.storage.mail import Mail
from claude_sessions.storage.sqlite import Store
from claude_sessions.telegram.outbox import Outbox
from tests.botapi import BotApi, Drop, Person
from tests.telegram.phone import Phone
from tests.telegram.post import ADA, outbox_in, texts, waiting, words
from tests.waiting import eventually

PAGES = 90


@pytest.fixture(autouse=True)
def ada(api: BotApi) -> Person:
    return api.person(ADA.chat, "Ada")


async def fill(outbox: Outbox) -> None:
    """With letters of another bot, until not even the smallest fits."""
    for size in (20_000, 2000, 200, 1):
        with suppress(SessionsError):
            for number in count():
                await outbox._change(partial(_filler, f"{size}:{number}", size))


def _filler(key: str, size: int, mail: Mail) -> None:
    mail.put(1, "9", key, "x" * size, [], seq=0, session=None, open=False, at=0.0)


def no_room_for_copies(store: Store) -> None:
    """What is left on a disk is enough for one thing, and then not for the next."""
    full = "SELECT RAISE(ABORT, 'database or disk is full')"
    store._db.execute(f"CREATE TRIGGER full BEFORE INSERT ON sent BEGIN {full}; END")


async def test_what_cannot_be_stored_is_said_all_the_same_and_in_order(
    tmp_path: Path, api: BotApi
) -> None:
    async with outbox_in(tmp_path, api, pages=PAGES, close_seconds=5) as outbox:
        await fill(outbox)
        outbox.budget.block(ADA.chat, time.monotonic(), 0.2)
        for number in range(3):
            await outbox.put(ADA, f"k{number}", words(f"{number}" * 3900))
    assert [text[0] for text in texts(api)] == ["0", "1", "2"]


async def test_a_message_that_went_out_when_its_id_found_no_room_is_known_later(
    tmp_path: Path, api: BotApi, ada: Person
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        letter = await outbox.put(ADA, "k", words("Asks"), open=True)
        await eventually(lambda: not letter.waits)
        known = letter.messages[0]
        await outbox._change(lambda mail: mail.lost(outbox.bot, ADA.chat, known))
        letter.unnoted[known] = 0  # as when there was no room for it
        await outbox.put(ADA, "k", words("Decided"))
        await ada.chat.shows("Decided")
        await eventually(lambda: not waiting(outbox))
        found = await outbox.letter_at(ADA.chat, known)
        assert found is not None
    assert texts(api) == ["Decided"]


async def test_a_press_that_cannot_be_written_down_is_answered_with_why(phone: Phone) -> None:
    phone.api.fail("sendMessage", how=Drop.AFTER)
    await phone.owner.says("Fix the tests")
    await phone.owner.chat.shows("(repeat)")
    copy = phone.owner.chat.of_bot[0]
    await phone.daemon.log.change(no_room_for_copies)
    press = await phone.owner.presses("Start one with this", copy)
    assert "could not be stored" in await press.answered()
