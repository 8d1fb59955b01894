"""`claude-sessions run` at a terminal: a real one, with somebody who types."""

from __future__ import annotations

import os
import signal

import pytest

from claude_sessions.demo import Gate, Script, bash, say
from tests.process.machine import PATIENCE, Machine
from tests.process.terminal import CTRL_C, CTRL_D

GREETING = "/new and a prompt starts a session, /help lists the rest, /quit leaves."


async def test_a_session_from_the_first_word_to_the_last(script: Script, machine: Machine) -> None:
    script.on("make it", say("One moment."), bash("touch made"), say("It is made."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        assert terminal.text.startswith(GREETING, 1)
        terminal.type("/new --fg --name maker Please make it")
        await terminal.shows("[1] Allow")
        terminal.type("1")
        await terminal.shows("maker · 0:")  # the turn is over
        terminal.type("/quit")
        assert await terminal.left() == 0
    shown = terminal.text
    assert shown.index("One moment.") < shown.index("touch made") < shown.index("It is made.")
    assert (machine.workdir / "made").exists()
    assert terminal.restored
    assert terminal.unknown == []


async def test_log_lines_go_to_the_file_and_not_to_the_terminal(machine: Machine) -> None:
    async with machine.chat("--log-level", "debug") as terminal:
        await terminal.prompts()
        terminal.type("/new --once --name once hello")
        await terminal.shows("You said: hello")
        terminal.type("/quit")
        assert await terminal.left() == 0
    events = ("daemon.ready", "session.ended", "daemon.stopped")
    assert all(event in machine.log for event in events)
    assert not any(event in terminal.text for event in events)
    assert (machine.home / "claude-sessions.log").stat().st_mode & 0o777 == 0o600


async def test_a_secret_that_claude_s_program_prints_is_not_logged(machine: Machine) -> None:
    program = machine.sandbox.root / "claude"
    program.write_text("#!/bin/sh\necho 'bad key sk-ant-0123456789' >&2\nexit 3\n")
    program.chmod(0o755)
    machine.configure(cli_path=str(program))
    async with machine.chat("--log-level", "debug") as terminal:
        await terminal.prompts()
        terminal.type("/new hello")
        await terminal.shows("could not be started")
        terminal.type("/quit")
        assert await terminal.left() == 0
    assert "bad key [struck out]" in machine.log
    assert "sk-ant" not in machine.log


@pytest.mark.parametrize("keys", [CTRL_C, CTRL_D], ids=["Ctrl-C", "Ctrl-D"])
async def test_with_no_work_leaving_asks_nothing(keys: str, machine: Machine) -> None:
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.press(keys)
        assert await terminal.left() == 0
    assert "Leave anyway?" not in terminal.text
    assert terminal.restored


async def test_leaving_a_session_at_work_asks_first(script: Script, machine: Machine) -> None:
    gate = Gate()
    script.on("work", say("One ", gate, "two."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --name busy work")
        await gate.reached(timeout=PATIENCE)
        for times, keys in enumerate([CTRL_D, "/quit\r", CTRL_C], start=1):
            terminal.press(keys)
            await terminal.shows("1 session is working: busy.\nLeave anyway?", times=times)
            if times < 3:
                terminal.type("n")
                await terminal.shows("Staying.", times=times)
        terminal.type("y")
        assert await terminal.left() == 0
    assert terminal.restored
    (stopping,) = [line for line in machine.log.splitlines() if "daemon.stopping" in line]
    assert "working=1" in stopping


async def test_sigterm_while_the_chat_is_open_gives_the_terminal_back(
    script: Script, machine: Machine
) -> None:
    gate = Gate()
    script.on("work", say("One ", gate, "two."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --fg --name busy work")
        await gate.reached(timeout=PATIENCE)
        terminal.press("half a li")
        await terminal.shows("half a li")
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert await terminal.left() == 0
    assert terminal.restored
    assert "Traceback" not in terminal.text + machine.log
    assert "daemon.stopped" in machine.log


async def test_closing_the_window_is_a_clean_stop(script: Script, machine: Machine) -> None:
    gate = Gate()
    script.on("work", say("One ", gate, "two."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --fg --name busy work")
        await gate.reached(timeout=PATIENCE)
        terminal.close()
        assert await terminal.left() == 0
    assert "Traceback" not in machine.log
    assert "daemon.stopped" in machine.log
