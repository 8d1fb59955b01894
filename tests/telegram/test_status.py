"""How things stand, read on a phone and in the terminal."""

from __future__ import annotations

import asyncio
from pathlib import Path

from claude_sessions import __version__
from claude_sessions.demo import Gate, Sandbox, Script, bash, say
from tests.botapi import BotApi, status
from tests.telegram.phone import Phone, phone_of
from tests.waiting import eventually


async def at_the_terminal(phone: Phone) -> str:
    caller = phone.daemon.local_caller("terminal", "console|local")
    return (await phone.daemon.hear("/status", caller)).text


async def says(phone: Phone, *words: str) -> str:
    """The status at the terminal, once it says all of that."""
    async with asyncio.timeout(20):
        while True:
            shown = await at_the_terminal(phone)
            if all(each in shown for each in words):
                return shown
            await asyncio.sleep(0.05)


async def test_the_phone_shows_how_the_bot_the_pool_and_the_daemon_stand(
    script: Script, phone: Phone
) -> None:
    gate = Gate()
    script.on("work", say("Wait", gate, "ed.")).on("make", bash("touch made"), say("Made."))
    await phone.owner.says("/new --name a work")
    await phone.owner.says("/new --name b make")
    await gate.reached()
    await phone.owner.chat.shows("b asks", timeout=20)
    await phone.viewer().says("/status")
    shown = (await phone.viewer().chat.shows("All is well")).text
    assert "🟢 All is well · up " in shown
    assert "Telegram: polled " in shown
    assert "owner: " in shown
    assert "Pool: 1 of 5 taken\n  1 working · 0 idle\n  1 waiting for people" in shown
    assert f"claude-sessions {__version__}" in shown
    for part in ("Claude Code 2.", "SDK 0.", "python-telegram-bot 2", "Python 3."):
        assert part in shown
    assert max(map(len, shown.split("\n"))) <= 45
    gate.open()


async def test_without_a_bot_there_is_no_word_of_one(sandbox: Sandbox, workdir: Path) -> None:
    async with BotApi() as api, phone_of(sandbox, workdir, api, telegram={"token": ""}) as phone:
        shown = await at_the_terminal(phone)
    assert "Telegram" not in shown
    assert shown.startswith("🟢 All is well · up ")


async def test_the_terminal_shows_that_telegram_is_out_of_reach_and_what_waits(
    script: Script, phone: Phone
) -> None:
    await phone.owner.says("/new --name first hello")
    await phone.owner.chat.shows("✅ first is done", timeout=20)
    await phone.api.goes_down()
    caller = phone.daemon.local_caller("terminal", "console|local")
    await phone.daemon.hear("/say first and now", caller)
    shown = await says(phone, "1 message to send, the oldest ", "cannot be reached")
    assert shown.startswith("⚠️ Not all is well")
    assert "⚠️ Telegram: polled " in shown
    assert "\n  Telegram cannot be reached.\n" in shown
    await phone.api.comes_back()
    await phone.owner.chat.shows("You said: and now", timeout=40)


async def test_another_poller_is_named(phone: Phone) -> None:
    phone.api.fail("getUpdates", times=None, how=status(409))
    await phone.owner.says("/sessions")
    await says(phone, "⚠️ Telegram", "Another program polls with this bot's token.")
    phone.api.calm()


async def test_of_a_group_that_moved_the_budget_is_that_of_where_it_is_now(phone: Phone) -> None:
    group = phone.api.group(-500, "Team", members=[phone.owner])
    await phone.owner.says("/sessions", chat=group)
    await group.shows("No sessions")
    now = phone.api.migrate(group, -100500, by=phone.owner)
    for number in range(3):
        await phone.owner.says(f"/projects {number}", chat=now)
    await eventually(lambda: len(now.of_bot) == 3)
    await says(phone, "chat -500: room for 17 of 20 this minute")


async def test_a_chat_that_cannot_be_reached_is_named_with_its_reason(
    script: Script, phone: Phone
) -> None:
    group = phone.api.group(-100500, "Team", members=[phone.owner])
    await phone.owner.says("/new --name first hello", chat=group)
    await group.shows("✅ first is done", timeout=20)
    phone.api.kick(group)
    caller = phone.daemon.local_caller("terminal", "console|local")
    await phone.daemon.hear("/say first and now", caller)
    await says(phone, "⚠️ chat -100500: cannot be reached (Forbidden: bot was kicked", "1 to send")
