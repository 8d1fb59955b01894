"""A daemon that died between two steps: the next one takes up each where it was, and once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from claude_sessions.channel import Action
from claude_sessions.demo import Sandbox, Script, ScriptedModel
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.mail import Mail, NewButton
from tests.botapi import BotApi, Person
from tests.telegram.phone import phone_of
from tests.telegram.post import BOT, words
from tests.waiting import eventually


async def meanwhile(sandbox: Sandbox, act: Callable[[Mail], Any]) -> None:
    """While no daemon runs."""
    async with EventLog(sandbox.root / "state" / "log.db", runner="r1") as log:
        await log.change(lambda store: act(store.mail))


def taken_in(person: Person, *texts: str) -> Callable[[Mail], Any]:
    """Written down and acknowledged, and then the daemon died."""
    raw = []
    for number, text in enumerate(texts, 5000):
        message = {"message_id": number, "date": int(time.time()), "text": text}
        message |= {"chat": person.chat.json(), "from": person.user}
        raw.append((number, json.dumps({"update_id": number, "message": message})))
    return lambda mail: mail.take_in(BOT, raw, at=1.0, head=0)


def not_done(mail: Mail) -> None:
    """As when the daemon died right after it had done what it was told."""
    mail._db.execute("UPDATE inbox SET state = 'new', head = 0 WHERE raw LIKE '%again%'")


async def first_session(sandbox: Sandbox, workdir: Path, api: BotApi, *more: str) -> Person:
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/new --fg --name first hello")
        await phone.owner.chat.shows("You said: hello", timeout=20)
        for text in more:
            await phone.owner.says(text)
            await phone.owner.chat.shows("again", timeout=20)
        await phone.owner.chat.shows("context", timeout=20)
    return phone.owner


async def test_what_was_written_down_and_not_handled_is_handled_once_and_in_order(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    owner = await first_session(sandbox, workdir, api)
    await meanwhile(sandbox, taken_in(owner, "one", "two", "three"))
    for _ in range(2):
        async with phone_of(sandbox, workdir, api):
            await owner.chat.shows("You said: three", timeout=40)
    assert model.prompts() == ["hello", "one", "two", "three"]


async def test_what_was_done_and_not_marked_is_not_done_again(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    owner = await first_session(sandbox, workdir, api, "and again")
    await meanwhile(sandbox, not_done)
    for _ in range(2):
        async with phone_of(sandbox, workdir, api):
            await owner.chat.shows("↩️ That was done just before I was restarted.", timeout=20)
    assert sum("That was done" in message.text for message in owner.chat.of_bot) == 1
    assert model.prompts() == ["hello", "and again"]


async def test_a_paste_in_parts_that_was_done_is_answered_once(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with phone_of(sandbox, workdir, api) as phone:
        owner = phone.owner
        await owner.says("/new --fg --name first hello")
        await owner.chat.shows("context", timeout=20)
        await owner.says("again " * 680)
        await owner.says("and again")
        await owner.chat.shows(lambda m: m.text.count("again") > 100, timeout=20)
        await owner.chat.shows("context", timeout=20)
    await meanwhile(sandbox, not_done)
    async with phone_of(sandbox, workdir, api):
        await owner.chat.shows("That was done just before I was restarted.", timeout=20)
        await owner.says("/sessions")
        await owner.chat.shows("1 session")
    assert sum("That was done" in message.text for message in owner.chat.of_bot) == 1
    assert len(model.prompts()) == 2


async def test_a_running_turn_of_which_no_word_was_stored_does_not_run_for_ever(
    script: Script, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    owner = await first_session(sandbox, workdir, api)
    running = next(message for message in owner.chat.of_bot if "You said" in message.text)
    stop = NewButton(token="stop", label="Stop", line="/interrupt first", needs_text=False)

    def began(mail: Mail) -> None:
        lost = "UPDATE letters SET open = 1, key = 'turn:' || session || ':t2:'"
        mail._db.execute(f"{lost} WHERE key LIKE 'turn:%'")
        query = "SELECT chat, key, session FROM letters WHERE open"
        chat, key, session = mail._db.execute(query).fetchone()
        content = words("first · 0:01", Action(label="Stop", line="/interrupt first")).dump()
        mail.put(BOT, chat, key, content, [stop], seq=3, session=session, open=True, at=1.0)

    await meanwhile(sandbox, began)
    async with phone_of(sandbox, workdir, api):
        await owner.chat.shows("first · 0:01", timeout=20)
        await eventually(lambda: not running.buttons, 20)
