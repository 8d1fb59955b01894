"""Claude's own scraps (sockets, task output) stay where its sandbox is."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.demo import Script, bash, say
from tests.process.machine import Machine


async def test_what_claude_opens_lies_in_the_sandbox_and_its_socket_goes_with_it(
    script: Script, machine: Machine
) -> None:
    script.on("serve", bash("tail -f /dev/null", run_in_background=True), say("It serves."))
    async with machine.chat() as terminal:
        await terminal.prompts()
        terminal.type("/new --fg --mode bypassPermissions --name server serve")
        await terminal.shows("server · 0:")
        sockets, files = opened(machine)
        assert sockets
        outside = [
            path for path in sockets | files if not path.is_relative_to(machine.sandbox.root)
        ]
        assert [path for path in outside if path.is_relative_to("/tmp")] == []
        terminal.type("/quit")
        assert await terminal.left() == 0
    assert not any(path.exists() for path in sockets)


def opened(machine: Machine) -> tuple[set[Path], set[Path]]:
    running = machine.processes()
    sockets = {
        Path(str(one.laddr)) for process in running for one in process.net_connections("unix")
    }
    files = {Path(file.path) for process in running for file in process.open_files()}
    return {path for path in sockets if path.is_absolute()}, files
