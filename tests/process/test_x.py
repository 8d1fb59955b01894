import asyncio
from tests.process.test_endings import *
import pytest
@pytest.mark.parametrize("n", range(12))
async def test_xx(n, script, machine):
    script.on("work", bash(ENDLESS), say("Never."))
    async with machine.chat("--log-level","debug") as terminal:
        await terminal.prompts()
        terminal.type("/new --mode bypassPermissions --name worker work")
        tool = psutil.Process(await tool_pid(machine))
        cli = tool.parent()
        print("tool", tool, "cli", cli, [(p.pid,p.ppid(),p.name()) for p in machine.processes()])
        cli.kill()
        try:
            async with asyncio.timeout(12):
                await terminal.shows("Claude's process ended unexpectedly (signal 9).")
        except BaseException:
            print(terminal.text); print(machine.log); print([(p.pid,p.ppid(),p.name(),p.cmdline()) for p in machine.processes()])
            for p in machine.processes():
                print(p.pid, os.popen(f"ls -l /proc/{p.pid}/fd").read())
            raise
        terminal.type("/quit")
        assert await terminal.left() == 0
