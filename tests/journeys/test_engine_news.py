"""What Claude does by itself, and what people hear of it."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.channel import Kind
from claude_sessions.clock import ManualClock
from claude_sessions.demo import (
    Gate,
    Sandbox,
    Script,
    ScriptedModel,
    bash,
    error,
    say,
    task,
    usage,
)
from claude_sessions.events import LimitReached, TurnStarted
from tests.journeys.chat import Chat, chatting


async def test_silence_in_the_middle_of_words_is_reported_once(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("talk", say("One ", gate, "two."))
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --fg --name quiet talk")
        await chat.shows(Kind.STREAM, "One")
        await chat.later(clock, "quiet", lambda _: Kind.NOTICE in chat.kinds())
        for _ in range(2):
            clock.advance(16)
            await chat.shows(Kind.NOTICE, "may be waiting")
        gate.open()
        await chat.idle("quiet")
        assert chat.kinds().count(Kind.NOTICE) == 1


async def test_a_tool_that_takes_long_is_no_reason_to_worry(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("wait", bash("while [ ! -e go ]; do :; done"), say("Done."))
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --fg --name patient wait")
        await chat.type(f"/allow {(await chat.asked('patient')).id}")
        await chat.until("patient", lambda s: bool(s.tools) and not s.pending)
        clock.advance(60)
        (workdir / "go").touch()
        await chat.idle("patient")
        assert Kind.NOTICE not in chat.kinds()


async def test_the_end_of_a_background_task_is_a_turn_of_claude_s_own(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("start", bash("while [ ! -e go ]; do :; done", run_in_background=True), say("On it."))
    script.notified(say("The task has ended."))
    await chat.type("/new --fg --name worker start")
    await chat.type(f"/allow {(await chat.asked('worker')).id}")
    await chat.until("worker", lambda s: bool(s.tasks) and s.turn is None)
    (workdir / "go").touch()
    await chat.shows(Kind.STREAM, "The task has ended.")
    state = await chat.until("worker", lambda s: s.turns == 2 and s.turn is None and not s.tasks)
    events = await chat.daemon.log.events(state.id, limit=1000)
    turns = [event.payload for event in events if isinstance(event.payload, TurnStarted)]
    assert [turn.injected for turn in turns] == [False, True]


async def test_a_used_up_account_is_told_once_with_the_time_it_resets(
    script: Script, model: ScriptedModel, tmp_path: Path, workdir: Path
) -> None:
    limit = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": "1900000000",
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
    }
    script.on("work", error(429, "limit", headers=limit))
    sandbox = Sandbox(tmp_path, model.url, subscription=True)
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --fg --name out work")
        await chat.shows(Kind.LIMIT)
        state = await chat.until("out", lambda s: s.turn is None and s.turns == 1)
        events = await chat.daemon.log.events(state.id, limit=1000)
        limits = [event.payload for event in events if isinstance(event.payload, LimitReached)]
        assert [limit.resets_at for limit in limits] == [1900000000]
        assert chat.kinds().count(Kind.LIMIT) == 1


async def test_a_subagent_s_words_are_not_the_answer(script: Script, chat: Chat) -> None:
    script.on("look around", say("I looked."))
    script.on("delegate", task("look around"), say("Delegated."))
    await chat.type("/new --name boss delegate")
    state = await chat.idle("boss")
    assert state.blocks == 1
    assert "I looked." not in await chat.type("/output boss")


async def test_the_context_share_and_the_cost_are_shown_at_the_end_of_a_turn(
    script: Script, chat: Chat
) -> None:
    script.on("think", usage(input=100_000, cache_read=100_000, output=10), say("Hm."))
    await chat.type("/new --fg --name big think")
    state = await chat.idle("big")
    assert state.context_share == 200_000 / state.context_window
    shown = await chat.shows(Kind.WAITING)
    assert "context" in shown.text
    assert "$" in shown.text
