"""A daemon with a bot, killed at the worst of moments: the phone shows the truth afterwards."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator

import pytest

from claude_sessions.demo import Gate, Script, ScriptedModel, bash, say
from tests.botapi import BotApi, Person
from tests.process.machine import PATIENCE, Machine, Program
from tests.process.test_crash import noted
from tests.waiting import eventually

OWNER = 1001


@pytest.fixture
async def api() -> AsyncIterator[BotApi]:
    async with BotApi() as serving:
        yield serving


@pytest.fixture
def owner(api: BotApi) -> Person:
    return api.person(OWNER, "Ada")


@pytest.fixture
def wired(machine: Machine, api: BotApi) -> Machine:
    lines = [
        "[telegram]",
        f"token = {json.dumps(api.token)}",
        f"base_url = {json.dumps(api.base_url)}",
        f"base_file_url = {json.dumps(api.base_file_url)}",
        "[[people]]",
        'name = "owner"',
        'role = "admin"',
        f"telegram = {OWNER}",
    ]
    machine.configure("\n".join(lines))
    return machine


async def killed(daemon: Program, machine: Machine) -> None:
    os.kill(daemon.pid, signal.SIGKILL)
    await daemon.left()
    await eventually(lambda: not machine.processes(), PATIENCE)


async def stopped(daemon: Program) -> None:
    daemon.process.terminate()
    await daemon.left()


async def test_a_turn_that_was_cut_off_keeps_its_words_and_loses_its_stop(
    script: Script, wired: Machine, owner: Person
) -> None:
    gate = Gate()
    script.on("fix it", say("The handler keeps the cookie. ", gate, "Never."))
    async with wired.started(wired.run()) as daemon:
        await owner.says("/new --fg --name fix-auth fix it")
        running = await owner.chat.shows("The handler keeps", timeout=PATIENCE)
        await eventually(lambda: running.buttons, PATIENCE)
        await noted(wired, "The handler keeps the cookie.")
        await killed(daemon, wired)
    async with wired.started(wired.run()) as daemon:
        await owner.chat.shows("I was restarted (stopped without warning at ", timeout=PATIENCE)
        await eventually(lambda: not running.buttons, PATIENCE)
        assert "The handler keeps the cookie." in running.text
        await stopped(daemon)


async def test_what_was_said_while_nobody_was_there_is_heard_once(
    script: Script, model: ScriptedModel, wired: Machine, owner: Person
) -> None:
    async with wired.started(wired.run()) as daemon:
        await owner.says("/new --fg --name first hello")
        await owner.chat.shows("You said: hello", timeout=PATIENCE)
        await owner.chat.shows("context", timeout=PATIENCE)
        await killed(daemon, wired)
    await owner.says("are you there?")
    async with wired.started(wired.run()) as daemon:
        await owner.chat.shows("You said: are you there?", timeout=PATIENCE)
        await stopped(daemon)
    assert model.prompts().count("are you there?") == 1


async def test_a_card_that_a_crash_took_says_so(
    script: Script, wired: Machine, owner: Person
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    async with wired.started(wired.run()) as daemon:
        await owner.says("/new --name maker make")
        card = await owner.chat.shows("maker asks", timeout=PATIENCE)
        await killed(daemon, wired)
    press = await owner.presses("Allow")
    async with wired.started(wired.run()) as daemon:
        await eventually(lambda: "No longer asked" in card.text, PATIENCE)
        await press.answered()
        await owner.chat.shows("Nothing waits", timeout=PATIENCE)
        assert not card.buttons
        await stopped(daemon)


async def test_of_a_draft_that_was_cut_off_nothing_dead_is_left_and_the_answer_comes_once(
    script: Script, wired: Machine, api: BotApi, owner: Person
) -> None:
    config = wired.sandbox.root / "claude-sessions.toml"
    config.write_text(config.read_text().replace("[telegram]", "[telegram]\ndrafts = true"))
    gate, later = Gate(), Gate()
    script.on("fix it", say("The handler keeps the cookie. ", gate, "Never."))
    script.on("go on", say("I go on. ", later, "All is fixed."))
    async with wired.started(wired.run()) as daemon:
        await owner.says("/new --fg --name fix-auth fix it")
        await api.called("sendMessageDraft", lambda call: "The handler" in call.params["text"])
        await noted(wired, "The handler keeps the cookie.")
        await killed(daemon, wired)
    async with wired.started(wired.run()) as daemon:
        told = await owner.chat.shows("I was restarted (stopped without", timeout=PATIENCE)
        assert "The handler keeps the cookie." in told.text
        await owner.says("go on")
        await api.called("sendMessageDraft", lambda call: "I go on." in call.params["text"])
        later.open()
        await owner.chat.shows("I go on. All is fixed.", timeout=PATIENCE)
        await owner.chat.shows("context", timeout=PATIENCE)
        await stopped(daemon)
    screen = owner.chat.text()
    assert screen.count("All is fixed.") == 1, screen
    running = [m for m in owner.chat.of_bot if "Stop" in m.button_labels]
    assert all("default model" in message.text for message in running), screen  # its launch
