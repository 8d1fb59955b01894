"""The small commands."""

from __future__ import annotations

import asyncio

from claude_sessions import __version__
from tests.process.machine import Machine


async def test_the_version_is_said_either_way(machine: Machine) -> None:
    answers = await asyncio.gather(
        machine.ran(*machine.command("--version")), machine.ran(*machine.command("version"))
    )
    assert {(ran.code, ran.out) for ran in answers} == {(0, f"claude-sessions {__version__}\n")}


async def test_help_names_every_command_and_option_and_fits_a_screen(machine: Machine) -> None:
    everything, about_run = await asyncio.gather(
        machine.ran(*machine.command("--help")), machine.ran(*machine.command("run", "--help"))
    )
    assert everything.code == about_run.code == 0
    assert everything.out.startswith("Usage: claude-sessions ")
    assert {"run", "doctor", "version"} <= set(everything.out.split())
    assert {"--config", "--home", "--log-level"} <= set(about_run.out.split())
    lines = (everything.out + about_run.out).splitlines()
    assert all(len(line) <= 80 and "..." not in line.removesuffix("[ARGS]...") for line in lines)


async def test_doctor_says_what_is_there_and_gives_a_remedy_for_what_is_not(
    machine: Machine,
) -> None:
    file = machine.configure()
    command = machine.command("doctor", "--config", str(file), "--home", str(machine.home))
    well, logged_out = await asyncio.gather(
        machine.ran(*command), machine.ran(*command, env={"ANTHROPIC_API_KEY": ""})
    )
    findings = [line for line in well.out.splitlines() if line[0] in "✅❌"]
    assert [line for line in findings if line[0] == "❌"] == []
    assert well.code == (1 if "❌" in well.out else 0)
    for name in ("claude", "login", f"configuration: {file}", f"home: {machine.home}", "tmux"):
        assert f"✅ {name}" in well.out
    assert logged_out.code == 1
    assert "❌ login: Claude is not logged in\n   → Run: " in logged_out.out
    assert well.err == logged_out.err == ""
    assert not machine.home.exists()
