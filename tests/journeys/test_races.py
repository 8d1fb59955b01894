"""Two things at once, at the edges of a session's life."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from claude_sessions.channel import Kind
from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, hang, say
from claude_sessions.events import SessionEnded, SessionStarted
from claude_sessions.model import Status
from tests.journeys.chat import Chat, chatting


async def test_two_messages_to_a_sleeping_session_wake_it_once_and_both_arrive(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        await chat.later(clock, "a", lambda s: s.status is Status.ASLEEP)
        await asyncio.gather(chat.type("/say a one"), chat.type("/say a two"))
        await chat.until("a", lambda s: s.blocks == 3)
        assert sorted(model.prompts()) == ["hello", "one", "two"]
        events = await chat.daemon.log.events((await chat.state("a")).id, limit=1000)
        assert [event.type for event in events].count("session.woken") == 1


async def test_two_resumes_at_once_are_one_run_and_both_prompts_arrive(
    model: ScriptedModel, chat: Chat
) -> None:
    await chat.type("/new --name a hello")
    await chat.idle("a")
    await chat.type("/kill a")
    await asyncio.gather(chat.type("/resume a one"), chat.type("/resume a two"))
    state = await chat.until("a", lambda s: s.blocks == 3)
    assert state.runs == 2
    assert sorted(model.prompts()) == ["hello", "one", "two"]


async def test_two_kills_at_once_are_one_ending(script: Script, chat: Chat) -> None:
    script.on("hang", hang())
    await chat.type("/new --name a hang")
    await chat.working("a")
    await asyncio.gather(chat.type("/kill a"), chat.type("/kill a"), chat.type("/interrupt a"))
    events = await chat.daemon.log.events((await chat.state("a")).id, limit=1000)
    assert sum(isinstance(event.payload, SessionEnded) for event in events) == 1


async def test_a_message_behind_a_kill_is_refused_and_nobody_waits_for_ever(
    script: Script, chat: Chat
) -> None:
    script.on("hang", hang())
    await chat.type("/new --name a hang")
    await chat.working("a")
    _, said = await asyncio.gather(chat.type("/kill a"), chat.type("/say a too late"))
    state = await chat.state("a")
    assert state.status is Status.KILLED
    assert "/resume a" in said or [m.text for m in state.queued] == ["too late"]


async def test_a_session_killed_in_the_middle_takes_messages_again_after_a_resume(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("hang", hang(times=1))
    await chat.type("/new --name a hello")
    await chat.idle("a")
    await chat.type("/say a hang now")
    await model.asked("hang now")
    await chat.written_down("a")
    await chat.type("/say a and this")
    events = await chat.daemon.log.events((await chat.state("a")).id, limit=1000)
    pids = [x.payload.pid for x in events if isinstance(x.payload, SessionStarted)]
    os.kill(pids[-1] or 0, signal.SIGKILL)
    state = await chat.ended("a")
    assert state.queued[-1].text == "and this"  # Claude may not have written the other one down
    await chat.type("/resume a go on")
    await chat.until("a", lambda s: s.status is Status.RUNNING and not s.queue and not s.turn)
    assert [p.splitlines()[-1] for p in model.prompts()[-2:]] == ["and this", "go on"]


async def test_an_interrupt_never_hits_the_message_it_came_with(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    gate = Gate()
    script.on("first", say("One ", gate, "two."))
    script.on("second", say("Here is the answer."))
    await chat.type("/new --fg --name a first")
    await gate.reached()
    gate.open()
    await chat.type("/say --interrupt a second")
    await chat.shows(Kind.STREAM, "Here is the answer.")
    assert model.prompts() == ["first", "second"]


async def test_many_sessions_at_once_all_answer(model: ScriptedModel, chat: Chat) -> None:
    names = [f"s{n}" for n in range(5)]
    await asyncio.gather(*(chat.type(f"/new --name {name} hello {name}") for name in names))
    for name in names:
        state = await chat.idle(name)
        assert f"You said: hello {name}" in await chat.type(f"/output {name}")
        assert state.blocks == 1
    assert len(set(model.prompts())) == 5
