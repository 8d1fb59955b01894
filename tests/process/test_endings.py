"""However the daemon ends, nothing it started goes on, and nothing is forgotten."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import psutil

from claude_sessions.demo import Script, ScriptedModel, bash, say
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Reason, Status
from claude_sessions.state import SessionState
from tests.process.machine import PATIENCE, Machine
from tests.waiting import eventually

ENDLESS = "echo $$ > pid; while true; do python3 -c 'import time; time.sleep(1)'; done"


async def sessions(home: Path) -> list[SessionState]:
    """What a later daemon would read."""
    async with EventLog(home / "log.db", runner="test") as log:
        return [await log.state_at(row.id) for row in await log.session_rows()]


async def tool_pid(machine: Machine) -> int:
    file = machine.workdir / "pid"
    await eventually(lambda: file.exists() and file.read_text().strip(), PATIENCE)
    return int(file.read_text())


async def test_kill_9_takes_the_cli_and_its_tools_along_and_the_next_start_knows(
    script: Script, model: ScriptedModel, machine: Machine
) -> None:
    script.on("work", say("I begin."), bash(ENDLESS), say("Never."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --mode bypassPermissions --name lost Please work")
        tool = await tool_pid(machine)
        assert len(machine.processes()) >= 3  # the daemon, the CLI, the shell
        os.kill(terminal.process.pid, signal.SIGKILL)
        await eventually(lambda: not machine.processes(), PATIENCE)
        assert not psutil.pid_exists(tool)
        assert await terminal.left() == -signal.SIGKILL

    async with machine.chat() as terminal:
        await terminal.prompts()
        (state,) = [line for line in machine.log.splitlines() if "session.abandoned" in line]
        assert "name=lost" in state
        terminal.type("/sessions all")
        await terminal.until(lambda shown: "lost" in shown and "1 session" in shown)
        terminal.type("/resume lost Where were we?")
        await model.asked("Where were we?", timeout=PATIENCE)
        await terminal.shows("You said: Where were we?")
        terminal.type("/quit")
        assert await terminal.left() == 0
    assert "Please work" in str(model.about("Where were we?")[0].messages)


async def test_what_a_cli_was_running_when_it_was_killed_is_ended_too(
    script: Script, machine: Machine
) -> None:
    script.on("work", bash(ENDLESS), say("Never."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --mode bypassPermissions --name worker work")
        tool = psutil.Process(await tool_pid(machine))
        cli = tool.parent()
        assert cli is not None
        cli.kill()
        await terminal.shows("Claude's process ended unexpectedly (signal 9).")
        assert not tool.is_running()
        terminal.type("/quit")
        assert await terminal.left() == 0


async def test_a_stop_asked_for_again_and_again_is_still_a_clean_stop(
    script: Script, machine: Machine
) -> None:
    script.on("work", bash(ENDLESS), say("Never."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --mode bypassPermissions --name worker work")
        await tool_pid(machine)
        os.kill(terminal.process.pid, signal.SIGTERM)
        await eventually(lambda: "daemon.stopping" in machine.log, PATIENCE)
        with suppress(ProcessLookupError):  # it was quicker
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGINT, signal.SIGHUP):
                os.kill(terminal.process.pid, number)
        assert await terminal.left() == 0
    assert machine.processes() == []
    (state,) = await sessions(machine.home)
    assert state.status is Status.ASLEEP
    assert "Traceback" not in terminal.text + machine.log


async def test_a_session_that_waits_for_a_person_is_not_asked_again_after_kill_9(
    script: Script, machine: Machine
) -> None:
    script.on("make it", bash("touch made"), say("Made."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --name asker make it")
        await terminal.shows("[1] Allow")
        os.kill(terminal.process.pid, signal.SIGKILL)
        await eventually(lambda: not machine.processes(), PATIENCE)
    async with machine.started(machine.run()) as daemon:
        await daemon.says("daemon.ready")
        os.kill(daemon.pid, signal.SIGTERM)
        assert await daemon.left() == 0
    (state,) = await sessions(machine.home)
    assert (state.status, state.reason) == (Status.ASLEEP, Reason.ABANDONED)
    assert state.pending == ()
    assert not (machine.workdir / "made").exists()


async def test_a_log_that_cannot_go_on_stops_the_daemon_with_a_sentence(machine: Machine) -> None:
    async with machine.chat() as terminal:
        await terminal.prompts()
        with closing(sqlite3.connect(machine.home / "log.db")) as log:
            log.execute("ALTER TABLE events RENAME TO gone")
        terminal.type("/new hello")
        assert await terminal.left() == 1
    assert terminal.text.endswith("\nThe log cannot go on: no such table: events")
    assert "Traceback" not in terminal.text
    assert terminal.restored
