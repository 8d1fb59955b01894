"""A session that is held: nothing of its queue is begun until somebody resumes it."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.demo import Sandbox, Script, ScriptedModel, hang
from claude_sessions.events import SessionAsleep, TurnInterrupted
from claude_sessions.model import Reason, Status
from tests.journeys.chat import Chat, chatting


async def paused_at_work(chat: Chat, script: Script, model: ScriptedModel) -> None:
    script.on("hang", hang())
    await chat.type("/new --name a hang")
    await model.asked("hang")
    await chat.written_down("a")
    await chat.type("/say a one")
    assert "paused, 1 message queued" in await chat.type("/pause a")


async def test_a_paused_session_begins_nothing_of_what_is_queued(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    await paused_at_work(chat, script, model)
    state = await chat.state("a")
    assert (state.status, state.paused) == (Status.ASLEEP, True)
    assert "which is paused" in await chat.type("/say a two")
    assert "paused" in await chat.type("/sessions")
    assert [m.text for m in (await chat.state("a")).queued] == ["one", "two"]
    assert model.prompts() == ["hang"]


async def test_resuming_goes_on_with_what_it_did_and_then_with_the_queue(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    await paused_at_work(chat, script, model)
    await chat.type("/resume a")
    await chat.until("a", lambda s: s.blocks == 2 and not s.queue)
    assert model.prompts() == ["hang", "Continue where you left off.", "one"]


async def test_a_pause_outlasts_a_restart(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await paused_at_work(chat, script, model)
    async with chatting(sandbox, workdir) as chat:
        assert (await chat.state("a")).paused
        await chat.type("/resume a go on please")
        await chat.until("a", lambda s: s.blocks == 2 and not s.queue)
        assert model.prompts() == ["hang", "go on please", "one"]


async def test_a_pause_is_told_in_the_log_with_who_asked_for_it(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    await paused_at_work(chat, script, model)
    events = await chat.daemon.log.events((await chat.state("a")).id, limit=1000)
    reasons = [
        each.payload.reason
        for each in events
        if isinstance(each.payload, TurnInterrupted | SessionAsleep)
    ]
    assert reasons == [Reason.PAUSED] * 2
    asleep = [each for each in events if isinstance(each.payload, SessionAsleep)]
    assert asleep[0].caller == "owner (memory)"


async def test_what_rests_can_be_paused_and_what_has_ended_cannot(chat: Chat) -> None:
    await chat.type("/new --name a hello")
    await chat.idle("a")
    await chat.type("/sleep a")
    await chat.type("/pause a")
    assert (await chat.state("a")).paused
    assert "is paused" in await chat.type("/pause a")
    await chat.type("/kill a")
    assert "has ended" in await chat.type("/pause a")


async def test_resuming_what_did_nothing_only_lets_its_queue_go_on(
    model: ScriptedModel, chat: Chat
) -> None:
    await chat.type("/new --name a hello")
    await chat.idle("a")
    await chat.type("/pause a")
    await chat.type("/say a one")
    await chat.type("/resume a")
    await chat.until("a", lambda s: s.blocks == 2 and not s.queue)
    assert model.prompts() == ["hello", "one"]


async def test_a_killed_turn_says_that_its_run_ends_with_it(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("hang", hang())
    await chat.type("/new --name a hang")
    await model.asked("hang")
    await chat.type("/interrupt a")
    await chat.idle("a")
    await chat.type("/say a hang again")
    await model.asked("hang again")
    await chat.type("/kill a")
    events = await chat.daemon.log.events((await chat.state("a")).id, limit=1000)
    cut = [each.payload for each in events if isinstance(each.payload, TurnInterrupted)]
    assert [each.last for each in cut] == [False, True]
