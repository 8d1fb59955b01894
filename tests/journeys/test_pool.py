"""More sessions than processes: resting, waiting in line, being woken."""

from __future__ import annotations

import asyncio
from pathlib import Path

from claude_sessions.channel import Kind
from claude_sessions.clock import ManualClock
from claude_sessions.commands import Launch, Respond
from claude_sessions.commands.chat import parse
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, hang, say
from claude_sessions.errors import PoolFull
from claude_sessions.model import Reason, Status
from tests.journeys.chat import Chat, chatting, settings_for


async def refused(chat: Chat, line: str) -> PoolFull:
    try:
        await chat.reply(line)
    except PoolFull as full:
        return full
    raise AssertionError("there was room")


async def test_a_launch_at_the_cap_is_offered_a_place_and_begins_when_one_is_free(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("slow", say("One ", gate, "two."))
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name busy slow")
        await gate.reached()
        full = await refused(chat, "/new --name next --budget 2 -- hello  there")
        assert "Max sessions reached (1): busy at work" in str(full)
        (wait,) = full.actions
        wanted = Launch(prompt="hello  there", name="next", budget_usd=2.0, queue=True)
        assert parse(wait.line) == wanted
        assert "waits in line" in await chat.type(wait.line)
        assert "in line" in await chat.type("/sessions")
        assert "waits in line (1st)" in await chat.type("/queue")
        assert model.prompts() == ["slow"]
        gate.open()
        await chat.idle("next")
        assert (await chat.state("busy")).status is Status.ASLEEP
        assert model.prompts() == ["slow", "hello  there"]


async def test_a_message_to_a_sleeper_at_the_cap_can_wait_in_line_and_wakes_it(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("slow", say("One ", gate, "two."))
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --fg --name first hello")
        await chat.idle("first")
        await chat.type("/new --name busy slow")
        await gate.reached()
        full = await refused(chat, "and now?")  # plain text goes to `first`
        assert parse(full.actions[0].line) == Respond(
            session=(await chat.state("first")).id, text="and now?", queue=True
        )
        assert "waits in line" in await chat.type(full.actions[0].line)
        assert "waits in line" in await chat.type("/say first also this")
        gate.open()
        state = await chat.until("first", lambda s: s.blocks == 3)
        assert not state.in_line


async def test_those_in_line_come_in_their_order_and_are_still_there_after_a_restart(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hang", hang())
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name busy hang")
        await model.asked("hang")
        for name in ("one", "two", "three"):
            await chat.type(f"/new --queue --name {name} {name}")
        await chat.type("/kill two")
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.until("one", lambda s: s.blocks == 1)
        await chat.until("three", lambda s: s.blocks == 1)
        assert model.prompts() == ["hang", "one", "three"]
        assert (await chat.state("two")).status is Status.KILLED


async def test_one_whose_message_is_withdrawn_leaves_the_line(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("slow", say("One ", gate, "two."))
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name busy slow")
        await gate.reached()
        await chat.type("/new --queue --name next hello")
        reply = await chat.reply("/queue next")
        await chat.type(reply.actions[0].line)
        state = await chat.until("next", lambda s: not s.in_line)
        assert (state.status, state.reason) == (Status.ASLEEP, Reason.USER)
        gate.open()
        await chat.idle("busy")
        assert model.prompts() == ["slow"]


async def test_a_fork_that_waited_in_line_still_is_one(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("slow", say("One ", gate, "two."))
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name source remember the milk")
        await chat.idle("source")
        await chat.type("/new --name busy slow")
        await gate.reached()
        await chat.type("/resume --fork --queue --name branch source what was it?")
        gate.open()
        branch = await chat.idle("branch")
        assert "remember the milk" in str(model.about("what was it?")[0].messages)
        assert branch.claude_id != (await chat.state("source")).claude_id


async def test_a_memory_budget_puts_the_idle_to_sleep(sandbox: Sandbox, workdir: Path) -> None:
    settings = settings_for(workdir, memory_budget_mb=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        await chat.type("/new --name b hello")
        await chat.idle("b")
        assert (await chat.state("a")).status is Status.ASLEEP
        await chat.daemon.manager.check_room()
        assert (await chat.state("b")).status is Status.ASLEEP


async def test_at_the_memory_budget_the_working_are_named(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hang", hang())
    settings = settings_for(workdir, memory_budget_mb=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name a hang")
        await chat.working("a")
        told = str(await refused(chat, "/new hello"))
        assert told.startswith("The memory budget is used up (")
        assert "of 1 MB): a at work" in told


async def test_a_session_with_a_task_in_the_background_stays_awake_and_people_are_told(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("serve", bash("tail -f /dev/null", run_in_background=True), say("It serves."))
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --allow Bash --name server serve")
        await chat.until("server", lambda s: bool(s.tasks) and s.turn is None)
        await chat.later(clock, "server", lambda _: Kind.NOTICE in chat.kinds())
        told = await chat.shows(Kind.NOTICE, "stays awake, because this still runs")
        assert (await chat.state("server")).status is Status.RUNNING
        assert "has something to do" in await chat.type("/sleep server")
        (stop,) = told.actions
        await chat.type(stop.line)
        await chat.until("server", lambda s: not s.tasks and s.turn is None)
        await chat.later(clock, "server", lambda s: s.status is Status.ASLEEP)


async def test_a_session_that_waits_for_a_person_is_never_put_to_sleep(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    clock = ManualClock()
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings, clock=clock) as chat:
        await chat.type("/new --name asker make")
        pending = await chat.asked("asker")
        clock.advance(31 * 60)
        assert "has something to do" in await chat.type("/sleep asker")
        await chat.type(f"/allow {pending.id}")
        await chat.idle("asker")
        assert (workdir / "made").exists()


async def test_a_message_that_arrives_while_it_falls_asleep_is_answered_once(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        for n in range(4):
            await chat.idle("a")
            await asyncio.gather(chat.type("/sleep a"), chat.type(f"/say a word {n}"))
            await chat.until("a", lambda s, n=n: s.blocks == n + 2)  # type: ignore[misc]
        assert model.prompts() == ["hello", *(f"word {n}" for n in range(4))]


async def test_six_sessions_on_two_processes_all_answer(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    settings = settings_for(workdir, max_sessions=2)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        names = [f"s{n}" for n in range(6)]
        for name in names:
            await chat.type(f"/new --queue --name {name} I am {name}")
        for name in names:
            await chat.until(name, lambda s: s.blocks == 1)
        assert len(chat.daemon.manager.live()) <= 2
        for name in reversed(names):
            await chat.type(f"/say --queue {name} who is {name}")
        for name in names:
            await chat.until(name, lambda s: s.blocks == 2)
            (asked,) = model.about(f"who is {name}")
            assert f"I am {name}" in str(asked.messages)
