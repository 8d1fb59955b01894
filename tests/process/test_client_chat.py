"""`claude-sessions chat` at a real terminal, while the daemon runs elsewhere, or stops running."""

from __future__ import annotations

import os
import signal
from contextlib import AbstractAsyncContextManager

from claude_sessions.demo import Gate, Script, bash, say
from tests.process.machine import PATIENCE, Machine, serving
from tests.process.terminal import CTRL_C, CTRL_D, Terminal


def chat(machine: Machine) -> AbstractAsyncContextManager[Terminal]:
    return machine.at_terminal(machine.client("chat"))


async def test_a_session_is_launched_watched_and_allowed_and_goes_on_when_the_chat_is_left(
    script: Script, machine: Machine
) -> None:
    gate = Gate()
    script.on("make it", say("One moment."), bash("touch made"), say("It is ", gate, "made."))
    async with serving(machine):
        async with chat(machine) as terminal:
            await terminal.prompts()
            terminal.type("/new --fg --name maker Please make it")
            await terminal.shows("[1] Allow")
            terminal.type("1")
            await terminal.shows("Allowed once by owner (terminal)")
            await gate.reached(timeout=PATIENCE)
            terminal.press(CTRL_D)
            assert await terminal.left() == 0
        assert "Leave anyway?" not in terminal.text
        assert terminal.restored
        assert terminal.unknown == []
        gate.open()
        async with chat(machine) as again:
            await again.prompts()
            again.type("/fg maker")
            await again.shows("It is made.")
            again.press(CTRL_C)
            assert await again.left() == 0
    assert (machine.workdir / "made").exists()
    shown = terminal.text
    assert shown.index("One moment.") < shown.index("touch made") < shown.index("Allowed once")


async def test_it_outlives_a_killed_daemon_and_says_what_became_of_each_line(
    machine: Machine,
) -> None:
    async with serving(machine) as daemon, chat(machine) as terminal:
        await terminal.prompts()
        os.kill(daemon.pid, signal.SIGKILL)
        await daemon.left()
        await terminal.shows("The connection to the daemon is lost. Waiting for it")
        terminal.type("/new --name later hello")
        await terminal.shows("Not sent, since the daemon is away: “/new --name later hello”.")
        async with serving(machine):
            await terminal.shows("The daemon is back.")
            terminal.type("1")  # say it again
            await terminal.shows("later · work")
            terminal.type("/quit")
            assert await terminal.left() == 0
    assert terminal.restored
    assert "Traceback" not in terminal.text


async def test_a_line_whose_answer_is_lost_is_said_to_be(machine: Machine) -> None:
    async with serving(machine) as daemon, chat(machine) as terminal:
        await terminal.prompts()
        os.kill(daemon.pid, signal.SIGSTOP)
        terminal.type("/sessions")
        await terminal.shows("> /sessions")
        os.kill(daemon.pid, signal.SIGKILL)
        await daemon.left()
        await terminal.shows("No answer came to “/sessions”")
        await terminal.shows("[1] Say it again")
        terminal.type("/quit")
        assert await terminal.left() == 0


async def test_what_was_in_front_still_is_when_the_daemon_comes_back(machine: Machine) -> None:
    async with serving(machine) as daemon, chat(machine) as terminal:
        await terminal.prompts()
        terminal.type("/new --fg --name talker hello")
        await terminal.shows("You said: hello")
        os.kill(daemon.pid, signal.SIGTERM)
        assert await daemon.left() == 0
        await terminal.shows("The daemon has stopped. Waiting for it")
        async with serving(machine):
            await terminal.shows("The daemon is back.")
            terminal.type("and again")
            await terminal.shows("You said: and again")
            terminal.type("/quit")
            assert await terminal.left() == 0


async def test_a_terminated_chat_gives_the_terminal_back(machine: Machine) -> None:
    async with serving(machine), chat(machine) as terminal:
        await terminal.prompts()
        terminal.press("half a li")
        await terminal.shows("half a li")
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert await terminal.left() == 130
        assert terminal.restored
    assert "Traceback" not in terminal.text


async def test_lines_can_be_piped_in(machine: Machine) -> None:
    async with serving(machine):
        lines = "/new --name one hello\n/nonsense\n/sessions"
        ran = await machine.ran(*machine.client("chat"), piped=lines)
        assert (ran.code, ran.err) == (0, "")
    assert "one · work" in ran.out
    assert "I do not know /nonsense" in ran.out
    assert "1 session" in ran.out
    assert "\x1b" not in ran.out


async def test_a_revoked_token_ends_the_chat_with_4(machine: Machine) -> None:
    async with serving(machine):
        command = machine.command("token", "new", "--home", str(machine.home), "mine", "--json")
        file = machine.sandbox.root / "own.token"
        made = await machine.ran(*command)
        file.touch(0o600)
        file.write_text(made.out.split('"token": "')[1].split('"')[0])
        own = machine.client("chat", "--token-file", str(file))
        async with machine.at_terminal(own) as terminal:
            await terminal.prompts()
            revoke = machine.command("token", "revoke", "--home", str(machine.home), "mine")
            assert (await machine.ran(*revoke)).code == 0
            assert await terminal.left() == 4
        assert "the token was revoked" in terminal.text
        assert terminal.restored
