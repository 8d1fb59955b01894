"""Cards on a phone: what a person needs to decide, to look at a turn, and to take it back."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.demo import Gate, Sandbox, Script, bash, plan, say, write
from tests.botapi import BotApi
from tests.telegram.phone import Phone, phone_of


async def test_a_long_change_is_short_in_its_card_and_whole_beside_it(
    script: Script, phone: Phone
) -> None:
    text = "".join(f"line {number}\n" for number in range(60))
    script.on("write", write("long.txt", text), say("Written."))
    await phone.owner.says("/new --fg --name writer write")
    card = await phone.owner.chat.shows("writer asks", timeout=20)
    assert "line 59" not in card.text
    file = await phone.owner.chat.shows(lambda message: message.document, timeout=20)
    assert file.document is not None
    assert file.document["file_name"].endswith(".diff")
    assert b"line 59" in phone.api.content(file.document["file_id"])


async def test_for_this_session_is_not_asked_again_and_stands_among_the_rules(
    script: Script, phone: Phone
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    script.on("again", bash("touch made"), say("Made once more."))
    await phone.owner.says("/new --fg --name maker make")
    await phone.owner.chat.shows("maker asks", timeout=20)
    await phone.owner.presses("For this session")
    await phone.owner.chat.shows("Made.", timeout=20)
    await phone.owner.says("again")
    await phone.owner.chat.shows("Made once more.", timeout=20)
    await phone.owner.says("/rules")
    rules = await phone.owner.chat.shows(
        lambda message: any("Revoke" in label for label in message.button_labels), timeout=20
    )
    assert "touch made" in rules.text


async def test_a_plan_is_shown_whole_and_goes_on_with_a_press(script: Script, phone: Phone) -> None:
    script.on("think", plan("# The plan\n\n1. **Do** it"), say("Gone."))
    await phone.owner.says("/new --fg --name thinker --mode plan think")
    card = await phone.owner.chat.shows("thinker has a plan", timeout=20)
    assert "1. Do it" in card.text
    assert card.button_labels == ["Go", "Go, accept edits", "Keep planning…"]
    await phone.owner.presses("Go")
    await phone.owner.chat.shows("Gone.", timeout=20)


async def test_a_turn_is_looked_at_and_taken_back(
    script: Script, phone: Phone, workdir: Path
) -> None:
    script.on("write", write("a.txt", "one\ntwo\n"), say("Written."))
    await phone.owner.says("/new --fg --name writer --mode acceptEdits write")
    done = await phone.owner.chat.shows("1 file +2 −0", timeout=20)
    assert done.text.startswith("Written.")
    await phone.owner.presses("Diff")
    await phone.owner.chat.shows("+two", timeout=20)
    press = await phone.owner.presses("Undo turn")
    assert "What commands changed was not undone." in await press.answered()
    assert not (workdir / "a.txt").exists()


async def test_what_is_too_long_to_read_in_a_chat_is_a_document_with_a_summary(
    script: Script, phone: Phone
) -> None:
    script.on("tell", say("It begins.\n\n" + "A long tale. " * 2000 + "\n\nSo it ends."))
    await phone.owner.says("/new --fg --name teller tell")
    file = await phone.owner.chat.shows(lambda message: message.document, timeout=30)
    assert file.document is not None
    assert b"A long tale." in phone.api.content(file.document["file_id"])
    summary = await phone.owner.chat.shows("So it ends.")
    assert "It begins." in summary.text
    assert len(summary.text) < 1000


async def test_with_drafts_the_words_come_as_one_and_the_answer_as_a_message(
    script: Script, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    gate = Gate()
    script.on("talk", say("The first words. ", gate, "The last."))
    async with phone_of(sandbox, workdir, api, telegram={"drafts": True}) as phone:
        await phone.owner.says("/new --fg --name talker talk")
        draft = await api.called("sendMessageDraft", lambda call: "first" in call.params["text"])
        assert draft.params["chat_id"] == phone.owner.id
        gate.open()
        await phone.owner.chat.shows("The first words. The last.", timeout=20)
