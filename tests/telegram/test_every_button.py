"""Buttons and lists that no other story presses: what Claude, the rules and the log get of them."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, plan, say, write
from claude_sessions.model import PermissionMode, Scope
from tests.botapi import BotApi
from tests.telegram.phone import Phone, phone_of
from tests.waiting import eventually


async def test_always_here_makes_a_rule_for_the_project_and_asks_no_other_session(
    script: Script, phone: Phone, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    script.on("again", bash("touch made"), say("Made once more."))
    await phone.owner.says("/new --name maker make")
    await phone.owner.chat.shows("maker asks", timeout=20)
    await phone.owner.presses("Always here")
    await phone.owner.chat.shows("Made.", timeout=20)
    (rule,) = phone.daemon.pool.rules.active()
    assert (rule.scope, rule.pattern, rule.by) == (
        Scope.PROJECT,
        "touch made",
        "owner (Telegram)",
    )
    await phone.owner.says("/new --name other again")
    await phone.owner.chat.shows("Made once more.", timeout=20)
    assert "other asks" not in phone.owner.chat.text()
    assert (workdir / "made").exists()


async def test_go_accept_edits_goes_on_without_asking_about_edits(
    script: Script, phone: Phone, workdir: Path
) -> None:
    script.on("think", plan("# The plan"), write("a.txt", "one\n"), say("Written."))
    await phone.owner.says("/new --fg --name thinker --mode plan think")
    await phone.owner.chat.shows("thinker has a plan", timeout=20)
    await phone.owner.presses("Go, accept edits")
    await phone.owner.chat.shows("Written.", timeout=20)
    assert (workdir / "a.txt").read_text() == "one\n"
    assert phone.daemon.book.known()[0].spec.mode is PermissionMode.ACCEPT_EDITS
    assert "thinker asks" not in phone.owner.chat.text()


async def test_keep_planning_tells_claude_what_the_plan_lacks(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    script.on("think", plan("# The plan"), say("I think again."))
    await phone.owner.says("/new --fg --name thinker --mode plan think")
    await phone.owner.chat.shows("thinker has a plan", timeout=20)
    await phone.owner.presses("Keep planning…")
    await phone.owner.chat.shows("reply with the words")
    await phone.owner.says("what about the tests?")
    await phone.owner.chat.shows("I think again.", timeout=20)
    told = await model.asked("think", count=3)
    assert any("what about the tests?" in result.text for result in told.tool_results)
    assert phone.daemon.book.known()[0].spec.mode is PermissionMode.PLAN


async def test_what_is_withdrawn_is_never_said(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    gate = Gate()
    script.on("work", say("I begin. "), gate, say("I am done."))
    await phone.owner.says("/new --fg --name worker work")
    await gate.reached()
    await phone.owner.says("and then delete it")
    await phone.owner.chat.shows("⏳ Queued for worker")
    press = await phone.owner.presses("Withdraw")
    assert await press.answered() == "worker: withdrawn."
    gate.open()
    await phone.owner.says("this instead")
    await phone.owner.chat.shows("You said: this instead", timeout=20)
    assert model.prompts() == ["work", "this instead"]


async def test_reply_takes_the_next_words_to_that_session(
    model: ScriptedModel, phone: Phone
) -> None:
    await phone.owner.says("/new --name first hello")
    await phone.owner.chat.shows("You said: hello", timeout=20)
    await phone.owner.says("/new --fg --name second hi")
    await phone.owner.chat.shows("You said: hi", timeout=20)
    await phone.owner.presses("Reply", await phone.owner.chat.shows("You said: hello"))
    await phone.owner.chat.shows("Reply: reply with the words.")
    await phone.owner.says("go on then")
    told = await model.asked("go on then", timeout=20)
    assert any("hello" in str(message) for message in told.messages)
    assert not any("You said: hi" in str(message) for message in told.messages)


async def test_wait_in_line_starts_once_there_is_room(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    gate = Gate()
    script.on("work", say("I begin. "), gate, say("I am done."))
    async with phone_of(sandbox, workdir, api, sessions={"max_sessions": 1}) as phone:
        await phone.owner.says("/new --name worker work")
        await gate.reached()
        await phone.owner.says("/new --name next hello there")
        await phone.owner.presses("Wait in line", await phone.owner.chat.shows("Wait in line"))
        await phone.owner.chat.shows("next waits in line")
        assert model.prompts() == ["work"]
        gate.open()
        await phone.owner.says("/kill worker")
        await phone.owner.chat.shows("You said: hello there", timeout=30)


async def test_a_schedule_is_made_run_paused_and_deleted_on_the_phone(
    model: ScriptedModel, phone: Phone
) -> None:
    await phone.owner.says('/schedule "0 9 * * 1-5" --name morning look around')
    made = await phone.owner.chat.shows("look around")
    assert "morning" in made.text
    await phone.owner.says("/schedule")
    listed = await phone.owner.chat.shows("1 schedule")
    await phone.owner.presses("Run morning", listed)
    await phone.owner.chat.shows("You said: look around", timeout=20)
    assert model.prompts() == ["look around"]
    await phone.owner.presses("Pause morning", listed)
    await eventually(lambda: "Resume morning" in listed.button_labels)
    (schedule,) = phone.daemon.pool.schedules.book.all()
    assert (schedule.by, schedule.paused) == ("owner", True)
    await phone.owner.presses("Delete morning", listed)
    await eventually(lambda: listed.text.startswith("Nothing is scheduled"))
    assert not phone.daemon.pool.schedules.book.all()


async def test_a_session_is_begun_in_a_project_with_a_press_and_its_prompt(
    model: ScriptedModel, phone: Phone, workdir: Path
) -> None:
    await phone.owner.says("/new --name first hello")
    await phone.owner.chat.shows("You said: hello", timeout=20)
    await phone.owner.says("/projects")
    await phone.owner.presses(
        f"New in {workdir.name}", await phone.owner.chat.shows(f"[New in {workdir.name}]")
    )
    await phone.owner.chat.shows("reply with the words")
    await phone.owner.says("fix the tests")
    await phone.owner.chat.shows("You said: fix the tests", timeout=20)
    assert {state.spec.directory for state in phone.daemon.book.known()} == {str(workdir)}
    assert model.prompts() == ["hello", "fix the tests"]
