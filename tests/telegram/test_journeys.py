"""From a phone to Claude and back: chat text to chat text."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.demo import Gate, Sandbox, Script, bash, question, say
from tests.botapi import BotApi
from tests.telegram.phone import Phone, phone_of


async def test_a_session_is_launched_watched_and_answered(script: Script, phone: Phone) -> None:
    script.on("hello", say("I am **here**."))
    await phone.owner.says("/new --fg --name first hello")
    await phone.owner.chat.shows("🟡 first")
    shown = await phone.owner.chat.shows("I am here.", timeout=20)
    await phone.owner.chat.shows("context", timeout=20)
    assert "**" not in shown.text
    assert not shown.buttons


async def test_plain_words_go_to_the_session_in_front(script: Script, phone: Phone) -> None:
    await phone.owner.says("/new --fg --name first hello")
    await phone.owner.chat.shows("You said: hello", timeout=20)
    await phone.owner.says("and now this")
    await phone.owner.chat.shows("You said: and now this", timeout=20)
    texts = [message.text for message in phone.owner.chat.of_bot]
    assert not any(text.startswith("↩️") for text in texts)


async def test_a_running_turn_shows_its_words_its_tools_and_a_stop(
    script: Script, phone: Phone
) -> None:
    gate = Gate()
    script.on("work", say("I begin."), bash("ls"), say("Then"), gate, say(" the rest."))
    await phone.owner.says("/new --fg --name first work")
    running = await phone.owner.chat.shows("🔧 Bash — ls", timeout=20)
    assert "I begin." in running.text
    assert "first · 0:" in running.text
    await phone.owner.chat.shows(lambda message: message is running and message.buttons)
    press = await phone.owner.presses("Stop", running)
    assert "interrupted" in (await press.answered())
    await phone.owner.chat.shows("⏹ first", timeout=20)
    assert not running.buttons


async def test_a_press_decides_and_every_copy_of_the_card_says_so(
    script: Script, phone: Phone, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await phone.owner.says("/new --fg --name maker make")
    card = await phone.owner.chat.shows("maker asks", timeout=20)
    assert "touch made" in card.text
    press = await phone.owner.presses("Allow")
    assert "Allowed once by owner (Telegram)" in await press.answered()
    await phone.owner.chat.shows("given to Claude", timeout=20)
    await phone.owner.chat.shows("Made.", timeout=20)
    assert (workdir / "made").exists()
    again = await phone.owner.presses_again(press)
    assert "Already allowed by owner" in await again.answered()


async def test_a_viewer_may_look_but_not_decide(script: Script, phone: Phone) -> None:
    script.on("make", bash("touch made"), say("Made."))
    group = phone.api.group(-100500, "Team", members=[phone.owner, phone.viewer()])
    await phone.owner.says("/new --fg --name maker make", chat=group)
    await group.shows("maker asks", timeout=20)
    press = await phone.viewer().presses("Allow", chat=group)
    assert "You may not decide" in await press.answered()
    assert "maker asks" in group.text()


async def test_a_stranger_gets_no_answer_and_the_owner_hears_of_them_once(phone: Phone) -> None:
    mallory = phone.api.person(666, "Mallory")
    await mallory.says("/sessions")
    await mallory.says("hello?")
    await phone.owner.chat.shows("Mallory")
    await phone.owner.says("/sessions")
    await phone.owner.chat.shows("No sessions")
    assert mallory.chat.of_bot == []
    assert sum("Mallory" in message.text for message in phone.owner.chat.of_bot) == 1


async def test_who_only_talks_beside_the_bot_in_a_group_is_no_news(phone: Phone) -> None:
    mallory, eve = phone.api.person(666, "Mallory"), phone.api.person(667, "Eve")
    group = phone.api.group(-100500, "Team", members=[phone.owner, mallory, eve])
    await mallory.says("lunch?", chat=group)
    await eve.says("/sessions", chat=group)
    told = await phone.owner.chat.shows("Eve")
    assert told.silent
    assert group.of_bot == []
    assert "Mallory" not in phone.owner.chat.text()


async def test_a_question_is_answered_in_ones_own_words(script: Script, phone: Phone) -> None:
    script.on("choose", question("Which colour?", ["Red", "Blue"]), say("Thanks."))
    await phone.owner.says("/new --fg --name asker choose")
    card = await phone.owner.chat.shows("Which colour?", timeout=20)
    assert card.text.startswith("❓ asker asks")
    await phone.owner.says("Rather green", reply_to=card.id)
    await phone.owner.chat.shows("Answered by owner (Telegram)", timeout=20)


async def test_a_reason_is_asked_for_and_the_card_alone_says_what_was_decided(
    script: Script, phone: Phone
) -> None:
    script.on("make", bash("touch made"), say("Understood."))
    await phone.owner.says("/new --fg --name maker make")
    await phone.owner.chat.shows("maker asks", timeout=20)
    await phone.owner.presses("Deny + tell why")
    await phone.owner.chat.shows("Deny + tell why: reply with the words.")
    await phone.owner.says("use the other directory")
    await phone.owner.chat.shows("“use the other directory” · given to Claude", timeout=20)
    await phone.owner.chat.shows("Understood.", timeout=20)
    denied = [m for m in phone.owner.chat.of_bot if m.text.startswith("❌ Denied")]
    assert len(denied) == 1


async def test_nothing_in_front_offers_to_start_one(script: Script, phone: Phone) -> None:
    await phone.owner.says("Fix the tests")
    await phone.owner.chat.shows("No session is in the foreground here")
    await phone.owner.presses("Start one with this")
    await phone.owner.chat.shows("You said: Fix the tests", timeout=20)


async def test_after_a_restart_the_answer_still_takes_its_place_and_old_cards_are_true(
    script: Script, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    script.on("make", say("I try."), bash("touch made"), say("Made."))
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/new --fg --name maker make")
        card = await phone.owner.chat.shows("maker asks", timeout=20)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.chat.shows("No longer asked", timeout=20)
        assert not card.buttons
        await phone.owner.chat.shows("I was restarted", timeout=20)
        assert not any("· 0:" in message.text for message in phone.owner.chat.of_bot)


async def test_a_reply_in_a_group_goes_to_the_session_it_replies_to(
    script: Script, phone: Phone
) -> None:
    group = phone.api.group(-100500, "Team", members=[phone.owner])
    await phone.owner.says("/new --fg --name first one", chat=group)
    answer = await group.shows("You said: one", timeout=20)
    await phone.owner.says("/new --fg --name second two", chat=group)
    await group.shows("You said: two", timeout=20)
    await phone.owner.says("three", chat=group, reply_to=answer)
    await group.shows(lambda m: "You said: three" in m.text and "first · " in m.text, timeout=20)
