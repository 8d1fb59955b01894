"""After kill -9, whatever it hit: what was running is named, what was said is there, once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import psutil
from httpx_sse import aconnect_sse

from claude_sessions.demo import Gate, Script, ScriptedModel, bash, hang, say
from claude_sessions.engines.ledger import Ledger
from claude_sessions.eventlog import EventLog
from claude_sessions.events import AssistantMessage
from claude_sessions.model import Reason, Status
from claude_sessions.places import ADDRESS
from claude_sessions.token_file import FILE
from tests.extensions.oauth import guarded_server
from tests.process.machine import PATIENCE, Machine, serving
from tests.process.terminal import Terminal
from tests.process.test_endings import sessions
from tests.waiting import eventually

AT_ONCE = 10.0  # seconds, on a busy machine


async def killed(terminal: Terminal, machine: Machine) -> None:
    os.kill(terminal.process.pid, signal.SIGKILL)
    await eventually(lambda: not machine.processes(), PATIENCE)


async def noted(machine: Machine, words: str) -> None:
    """What is being said is noted about once a second; elsewhere it may stand before that."""
    with closing(sqlite3.connect(machine.home / "log.db")) as log:
        query = "SELECT text FROM drafts"
        await eventually(lambda: any(words in text for (text,) in log.execute(query)), PATIENCE)


async def written_down(machine: Machine, words: str) -> None:
    """In Claude's own file, which lags a little."""
    projects = machine.sandbox.home / ".claude" / "projects"
    files = "*/*.jsonl"
    await eventually(lambda: any(words in f.read_text() for f in projects.glob(files)), PATIENCE)


async def test_the_next_start_says_what_was_said_and_offers_to_continue(
    script: Script, model: ScriptedModel, machine: Machine
) -> None:
    gate = Gate()
    script.on("fix it", say("The handler keeps the cookie. ", gate, "Never."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --name fix-auth fix it")
        await gate.reached()
        terminal.type("/say fix-auth also add tests")
        await terminal.shows("Queued for fix-auth")
        await noted(machine, "The handler keeps the cookie.")
        await killed(terminal, machine)
    async with machine.chat() as terminal:
        await terminal.shows("I was restarted (stopped without warning at ")
        await terminal.shows("fix-auth was in the middle of a turn; it had said:")
        await terminal.shows("“The handler keeps the cookie.”")
        await terminal.shows("1 message is still queued.")
        await terminal.shows("[1] Continue   [2] Leave asleep")
        assert model.prompts() == ["fix it"]  # nothing by itself
        terminal.type("1")
        await model.asked("also add tests", timeout=PATIENCE)
        terminal.type("/output fix-auth")
        await terminal.shows("You said: also add tests")
        terminal.type("/quit")
        assert await terminal.left() == 0
    assert model.prompts() == ["fix it", "also add tests"]
    async with machine.chat() as terminal:
        await terminal.prompts()
        assert "I was restarted" not in terminal.text  # told once
        terminal.type("/quit")
        await terminal.left()


async def test_of_a_turn_that_had_said_nothing_is_told_what_it_was_asked(
    script: Script, machine: Machine
) -> None:
    gate = Gate()
    script.on("fix it", gate, say("Never."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --fg --name fix-auth hello")
        await terminal.shows("You said: hello")
        terminal.type("/say fix-auth fix it")
        await gate.reached(timeout=PATIENCE)
        await killed(terminal, machine)
    async with machine.chat() as terminal:
        await terminal.shows("fix-auth was in the middle of a turn; it was asked:")
        await terminal.shows("“fix it”")
        assert "“You said: hello”" not in terminal.text
        terminal.type("/quit")
        assert await terminal.left() == 0


async def test_what_only_claude_s_own_file_has_is_not_lost(
    script: Script, model: ScriptedModel, machine: Machine
) -> None:
    """The daemon is stopped, so it hears nothing of the answer that Claude still writes down."""
    gate = Gate()
    script.on("tell", gate, say("The answer is 42."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --name teller tell")
        await gate.reached()
        os.kill(terminal.process.pid, signal.SIGSTOP)
        gate.open()
        await written_down(machine, "The answer is 42.")
        await killed(terminal, machine)
    async with machine.chat() as terminal:
        await terminal.shows("“The answer is 42.”")
        terminal.type("/quit")
        assert await terminal.left() == 0
    (state,) = await sessions(machine.home)
    assert (state.status, state.reason) == (Status.ASLEEP, Reason.ABANDONED)
    assert state.blocks == 1


async def test_a_message_that_claude_never_took_in_is_delivered_once_after_the_crash(
    script: Script, model: ScriptedModel, machine: Machine
) -> None:
    script.on("hang", hang())
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --name a hang")
        await model.asked("hang", timeout=PATIENCE)
        await written_down(machine, '"content":"hang"')
        (cli,) = [p for p in machine.processes() if "--input-format" in p.cmdline()]
        cli.suspend()  # it takes nothing in any more
        terminal.type("/say --steer a mind the gap")
        await terminal.shows("a: mind the gap")
        os.kill(terminal.process.pid, signal.SIGKILL)
        cli.kill()
        await eventually(lambda: not machine.processes(), PATIENCE)
    async with machine.chat() as terminal:
        await terminal.shows("1 message is still queued.")
        terminal.type("1")
        await terminal.shows("a is done")
        terminal.type("/quit")
        assert await terminal.left() == 0
    assert model.prompts() == ["hang", "mind the gap"]


async def test_a_claude_that_is_killed_ends_its_run_and_its_queue_is_kept(
    script: Script, model: ScriptedModel, machine: Machine
) -> None:
    gate = Gate()
    script.on("talk", say("One two ", gate, "three."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --name a talk")
        await gate.reached()
        terminal.type("/say a and then?")
        await terminal.shows("Queued for a")
        await written_down(machine, '"content":"talk"')
        (cli,) = [p for p in machine.processes() if "--input-format" in p.cmdline()]
        cli.kill()
        await terminal.shows("Claude's process ended unexpectedly (signal 9).")
        gate.open()
        terminal.type("/resume a")
        await terminal.shows("You said: and then?")
        terminal.type("/quit")
        assert await terminal.left() == 0
    assert model.prompts() == ["talk", "and then?"]
    (state,) = await sessions(machine.home)
    assert (state.runs, state.queue) == (2, ())
    assert "One two" in str(await words(machine.home))


async def words(home: Path) -> list[str]:
    async with EventLog(home / "log.db", runner="test") as log:
        return [
            event.payload.text
            for event in await log.events(limit=10_000)
            if isinstance(event.payload, AssistantMessage)
        ]


async def test_what_an_earlier_daemon_left_running_is_swept_at_the_start(machine: Machine) -> None:
    machine.home.mkdir(mode=0o700)
    stray, other = sleeper(), sleeper()
    Ledger(machine.home / "processes").add(stray.pid)
    (machine.home / "processes" / str(other.pid)).write_text("1.0")  # its pid was another's then
    try:
        async with machine.started(machine.run()) as daemon:
            await daemon.says("ledger.swept")
            await daemon.says("daemon.ready")
            os.kill(daemon.pid, signal.SIGTERM)
            assert await daemon.left() == 0
        stray.wait(5)
        assert other.poll() is None
        assert list((machine.home / "processes").iterdir()) == []
    finally:
        other.kill()
        other.wait()


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"], start_new_session=True)


async def test_twenty_working_sessions_stop_within_ten_seconds_and_leave_nothing(
    script: Script, machine: Machine
) -> None:
    gate = Gate()
    script.on("talk", say("One ", gate, "two."))
    script.on("work", bash("while true; do python3 -c 'import time; time.sleep(1)'; done"))
    machine.configure(max_sessions=20)
    async with machine.chat() as terminal:
        await terminal.prompts()
        for n in range(17):
            terminal.type(f"/new --name talker-{n} talk")
        for n in range(3):
            terminal.type(f"/new --mode bypassPermissions --name worker-{n} work")
        await gate.reached(count=17, timeout=3 * PATIENCE)
        await eventually(lambda: len(tools(machine)) >= 3, PATIENCE)
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert await terminal.left(within=10) == 0
    assert machine.processes() == []
    asleep = await sessions(machine.home)
    assert [state.status for state in asleep] == [Status.ASLEEP] * 20
    assert {state.reason for state in asleep} == {Reason.SHUTDOWN}


def tools(machine: Machine) -> list[psutil.Process]:
    return [process for process in machine.processes() if "time.sleep(1)" in command_line(process)]


def command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # each of them lives for a second
        return ""


async def test_a_login_that_is_open_dies_with_the_daemon(machine: Machine) -> None:
    with guarded_server() as address:
        async with machine.chat() as terminal:
            await terminal.prompts()
            terminal.type(f"/mcp add far {address}")
            await terminal.shows("Added HTTP MCP server far")
            terminal.type("/mcp auth far")
            await terminal.shows("far wants a login")
            os.kill(terminal.process.pid, signal.SIGKILL)
            await eventually(lambda: not machine.processes(), AT_ONCE)  # by itself: half a minute


async def test_who_waits_at_the_gateway_hears_that_a_question_went_down_with_the_daemon(
    script: Script, machine: Machine
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    async with serving(machine) as daemon:
        await machine.ran(*machine.client("new", "--name", "a", "make it"))
        asked = [event async for event in workflow(machine, "a", "input:requested")][-1]
        os.kill(daemon.pid, signal.SIGKILL)
        await daemon.left()
    async with serving(machine):
        events = [event async for event in workflow(machine, "a", "input:received")]
    answer = {"id": asked["payload"]["id"], "value": "no", "approved": False}
    assert asked in events
    assert events[-1]["payload"] == answer


async def workflow(machine: Machine, name: str, last: str) -> AsyncIterator[dict[str, Any]]:
    """As a client of the event-sourced dialect hears it, up to the first event of that name."""
    url, token = ((machine.home / file).read_text().strip() for file in (ADDRESS, FILE))
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE) as http,
        aconnect_sse(http, "GET", f"/sessions/{name}/events", params={"history": "1"}) as source,
    ):
        async for event in source.aiter_sse():
            yield event.json()
            if event.event == last:
                break
