import signal, os, asyncio
from tests.process.machine import Machine
from tests.process.terminal import CTRL_C, CTRL_D
from claude_sessions.demo import *

async def test_headless(machine: Machine) -> None:
    async with machine.started(machine.run()) as p:
        await p.says("daemon.ready")
        os.kill(p.pid, signal.SIGTERM)
        print(await p.left())
        print(p.lines)

async def test_chat(machine: Machine, script, model) -> None:
    gate = Gate()
    script.on("hold", say("one ", gate, "two"))
    script.on("make", bash("touch made"), say("Made it."))
    async with machine.chat() as t:
        await t.shows("/quit leaves")
        t.type("/new --fg --name maker make")
        await t.shows("Allow")
        print(t.text)
        t.type("1")
        await t.shows("Made it.")
        t.type("/new --name holder hold")
        await gate.reached(timeout=30)
        t.press(CTRL_C)
        await t.shows("Leave anyway")
        t.type("n")
        await t.shows("Staying")
        t.press(CTRL_D)
        await t.until(lambda s: s.count("Leave anyway")==2)
        t.type("y")
        print(await t.left())
        assert t.modes == t.modes_before
        print(t.text)
        print(t._display.unknown)
        print(machine.log)
        print(machine.processes())
