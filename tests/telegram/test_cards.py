"""Cards on a phone: what a person needs to decide, to look at a turn, and to take it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.demo import Gate, Sandbox, Script, bash, plan, question, say, write
from tests.botapi import BotApi, status
from tests.telegram.phone import Phone, phone_of
from tests.waiting import eventually

EMOJI = "🚀"


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


async def test_a_decided_card_of_two_texts_and_a_file_keeps_the_file_and_no_button(
    script: Script, phone: Phone
) -> None:
    command = "publish " + EMOJI * 1900
    script.on("make", bash(command, description=EMOJI * 300), say("Well then."))
    await phone.owner.says("/new --fg --name maker make")
    asks = await phone.owner.chat.shows("maker asks", timeout=20)
    file = await phone.owner.chat.shows(lambda message: message.document, timeout=20)
    pressed = next(m for m in phone.owner.chat.of_bot if "Deny" in m.button_labels)
    assert (asks.buttons, pressed.id < file.id) == ([], True)
    await phone.owner.presses("Deny")
    await phone.owner.chat.shows("Well then.", timeout=20)
    await eventually(lambda: pressed.deleted)
    assert asks.text.startswith("❌ Denied by owner")
    assert not file.deleted
    assert "Deny" not in phone.owner.chat.button_labels()


@pytest.mark.parametrize(("steps", "has_file"), [(9, False), (40, False), (200, True)])
async def test_a_plan_that_was_agreed_on_stays_to_be_read(
    script: Script, phone: Phone, steps: int, has_file: bool
) -> None:
    lines = [f"{n}. Do step {n} " + "well " * 50 for n in range(steps)]
    script.on("think", plan("\n\n".join(["# The plan", *lines])), say("Gone."))
    await phone.owner.says("/new --fg --name thinker --mode plan think")
    asks = await phone.owner.chat.shows("thinker has a plan", timeout=20)
    await phone.owner.chat.shows(lambda message: "Go" in message.button_labels, timeout=20)
    if has_file:
        await phone.owner.chat.shows(lambda message: message.document, timeout=20)
    about = [m for m in phone.owner.chat.of_bot if m.id >= asks.id]
    told = [m.text.split("\n\n", 1)[-1] for m in about]
    await phone.owner.presses("Go")
    await phone.owner.chat.shows("Gone.", timeout=20)
    await eventually(lambda: "given to Claude" in asks.text, 20)
    assert asks.text.startswith("✅ Allowed once by owner")
    assert [m.text.split("\n\n", 1)[-1] for m in about] == told
    assert not any(m.deleted or "Go" in m.button_labels for m in about)


async def test_an_option_on_which_nothing_can_be_seen_can_be_chosen_all_the_same(
    script: Script, phone: Phone
) -> None:
    script.on("paint", question("Which colour?", ["Red", " "]), say("Painted."))
    await phone.owner.says("/new --fg --name painter paint")
    asks = await phone.owner.chat.shows("Which colour?", timeout=20)
    assert asks.button_labels == ["Red", "Option 2", "Your own answer"]
    await phone.owner.presses("Option 2")
    await phone.owner.chat.shows("Painted.", timeout=20)


async def test_a_card_that_is_refused_as_it_is_can_be_decided_all_the_same(
    script: Script, phone: Phone
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    refused = lambda params: "touch made" in params.get("text", "")  # noqa: E731
    phone.api.fail("sendMessage", times=None, how=status(400), where=refused)
    await phone.owner.says("/new --fg --name maker make")
    card = await phone.owner.chat.shows("maker asks for something that could not be", timeout=20)
    assert "/approvals " in card.text
    assert "Allow" in card.button_labels
    phone.api.calm()
    await phone.owner.presses("Allow", card)
    await phone.owner.chat.shows("Made.", timeout=20)


async def test_a_card_whose_buttons_are_refused_says_where_it_can_be_decided(
    script: Script, phone: Phone
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    refused = lambda params: "Deny" in str(params.get("reply_markup"))  # noqa: E731
    phone.api.fail("sendMessage", times=None, how=status(400), where=refused)
    await phone.owner.says("/new --fg --name maker make")
    card = await phone.owner.chat.shows("maker asks for something that could not be", timeout=20)
    assert (card.buttons, "/approvals " in card.text) == ([], True)


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
