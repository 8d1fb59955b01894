"""What is kept for Telegram, and for how long: nothing grows for ever, and who forgets, forgets."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, bash, say
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.schema import connect_for_reading
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.files import uploads_in
from claude_sessions.telegram.outbox import UNREACHED
from claude_sessions.telegram.uploads import Uploads
from tests.botapi import BotApi
from tests.telegram.phone import OWNER, PROMPTER, Phone, phone_of
from tests.telegram.post import ADA, STOP, outbox_in, shown, texts, waiting, words
from tests.waiting import eventually

DAY = 86400


async def test_of_what_waits_for_somebody_who_blocked_the_bot_only_the_newest_is_kept(
    tmp_path: Path, api: BotApi
) -> None:
    given_up: list[tuple[int, int]] = []
    clock, ada = ManualClock(), api.person(ADA.chat, "Ada")
    async with outbox_in(tmp_path, api, clock=clock, close_seconds=0) as outbox:
        outbox.gave_up = lambda chat, letters: given_up.append((chat, letters))
        api.block(ada)
        await outbox.put(ADA, "first", words("first"))
        await eventually(outbox.unreachable)
        for number in range(UNREACHED + 5):
            await outbox.put(ADA, f"k{number}", words(f"{number}"))
        await eventually(lambda: _later(clock, 3600) and given_up == [(ADA.chat, 6)])
        assert len(waiting(outbox)) == UNREACHED
        await eventually(lambda: _later(clock, DAY) and not waiting(outbox))
        await eventually(lambda: not outbox.depth and outbox._letters == {})


def _later(clock: ManualClock, seconds: float) -> bool:
    clock.advance(seconds)
    return True


async def test_the_owner_is_told_once_how_much_somebody_will_never_read(
    sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    pat = api.person(PROMPTER, "Pat")
    for number in range(3):
        await pat.says(f"/projects {number}")
    api.block(pat)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.chat.shows("I cannot write to the chat 1003", timeout=20)
        await eventually(lambda: len(_rows(sandbox, f"letters WHERE chat = '{PROMPTER}'")) == 3)
    await _change(sandbox, f"UPDATE letters SET at = at - {8 * DAY} WHERE chat = '{PROMPTER}'")
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.chat.shows("3 messages to the chat 1003 will not be shown", timeout=20)
        assert sum("will not be shown" in text for text in texts(api, OWNER)) == 1


async def test_what_another_bot_left_goes_after_a_month(tmp_path: Path, api: BotApi) -> None:
    api.person(ADA.chat, "Ada")
    clock = ManualClock()
    now = clock.now().timestamp()
    async with outbox_in(tmp_path, api, clock=clock, bot=77) as outbox:
        await outbox.put(Address(404), "old", words("Old", STOP))
        await outbox._change(lambda mail: mail.take_in(77, [(5, "{}")], at=now, head=0))
    clock.advance(29 * DAY)
    async with outbox_in(tmp_path, api, clock=clock) as outbox:
        await outbox._change(outbox._tidied)
        assert len(outbox.mail.waiting(77)) == 1
        clock.advance(2 * DAY)
        await outbox._change(outbox._tidied)
        assert (outbox.mail.waiting(77), outbox.mail.unfinished(77)) == ([], [])
        assert outbox._log.store.mail._db.execute("SELECT * FROM buttons").fetchall() == []


async def test_files_that_people_sent_go_after_a_month_but_not_those_that_still_wait(
    script: Script, phone: Phone, sandbox: Sandbox
) -> None:
    gate, place = Gate(), uploads_in(sandbox.root / "state")
    script.on("work", say("Wait", gate, "ed."))
    await phone.owner.says("/new --fg --name first work")
    await gate.reached()
    await phone.owner.sends_document("a.bin", b"\0\1", "look at it")
    await phone.owner.chat.shows("Queued for first", timeout=20)
    other = place / "other"
    other.mkdir()
    (waits,) = (folder for folder in place.iterdir() if folder != other)
    clock = ManualClock()
    uploads = Uploads(place, log=phone.daemon.log, clock=clock)
    for days, left in ((29, {waits, other}), (31, {waits})):
        for folder in place.iterdir():
            at = clock.now().timestamp() - days * DAY
            os.utime(folder, (at, at))
        await uploads.sweep()
        assert set(place.iterdir()) == left
    gate.open()


async def test_the_words_of_a_run_that_is_over_leave_the_memory(
    script: Script, phone: Phone
) -> None:
    script.on("work", say("I begin."), bash("touch made"))
    await phone.owner.says("/new --fg --name first work")
    card = await phone.owner.chat.shows("first asks", timeout=20)
    await phone.owner.says("/kill first")
    await eventually(lambda: not card.buttons, 20)
    outlet = phone.daemon.router._outlets[f"telegram|{OWNER}"]
    await eventually(lambda: not phone.daemon.manager.live(), 20)
    await eventually(lambda: outlet.settled >= phone.daemon.log.head, 20)
    channel: Any = outlet.channel
    assert (channel._past, channel._lives) == ({}, {})


async def test_of_a_session_that_is_forgotten_no_letter_and_no_message_is_left(
    script: Script, phone: Phone, sandbox: Sandbox
) -> None:
    script.on("milk", say("Milk it is."))
    await phone.owner.says("/new --fg --name secret the password is milk")
    await phone.owner.chat.shows("context", timeout=20)
    await phone.owner.says("milk, I said")
    await eventually(lambda: sum("context" in m.text for m in shown(phone.api, OWNER)) == 2, 20)
    await phone.owner.says("/kill secret")
    await phone.owner.chat.shows("⛔", timeout=20)
    await eventually(lambda: not waiting_rows(sandbox), 20)
    assert "milk" in str(_rows(sandbox, "inbox")) + str(_rows(sandbox, "letters"))
    await phone.owner.says("/forget secret")
    await phone.owner.presses("Delete it", await phone.owner.chat.shows("Delete all"))
    await eventually(lambda: "milk" not in str(_rows(sandbox, "inbox")).lower(), 20)
    assert "milk" not in str(_rows(sandbox, "letters")).lower()
    letters = {row[0] for row in _rows(sandbox, "letters")}
    assert {row[3] for row in _rows(sandbox, "sent")} <= letters
    assert {row[1] for row in _rows(sandbox, "buttons")} <= letters


async def test_what_was_still_to_be_shown_of_a_forgotten_session_goes_once_it_is(
    tmp_path: Path, api: BotApi
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        api.person(ADA.chat, "Ada")
        await outbox.put(ADA, "k", words("milk"), session="gone", open=True)
        await eventually(lambda: not outbox.depth)
        await outbox._log.change(lambda store: store.forget("gone"))
        await outbox.put(ADA, "k", words("milk, and no more"), session="gone")
        await eventually(lambda: not waiting(outbox))
        assert texts(api) == ["milk, and no more"]
        await outbox._change(outbox._tidied)
        assert not await outbox.has(ADA, "k")


def waiting_rows(sandbox: Sandbox) -> list[tuple[Any, ...]]:
    return _rows(sandbox, "letters WHERE shown < version OR open")


def _rows(sandbox: Sandbox, table: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(connect_for_reading(sandbox.root / "state" / "log.db")) as db:
        return db.execute(f"SELECT * FROM {table}").fetchall()


async def _change(sandbox: Sandbox, statement: str) -> None:
    async with EventLog(sandbox.root / "state" / "log.db", runner="r1") as log:
        await log.change(lambda store: store.mail._db.execute(statement))
