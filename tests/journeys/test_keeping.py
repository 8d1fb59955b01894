"""What is kept, for how long, and what is deleted: only what somebody asked to be."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, hang, say
from claude_sessions.events import SessionForgotten
from claude_sessions.model import Role
from tests.journeys.chat import Chat, chatting, settings_for
from tests.waiting import eventually


async def test_to_forget_a_session_is_for_admins_and_asks_first(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    await chat.type("/new --name secret --allow Read the password is milk")
    state = await chat.idle("secret")
    guest = chat.somebody(Role.APPROVER)
    assert "it needs the role admin" in await guest.type("/forget secret --yes")
    asked = await chat.reply("/forget secret")
    assert "This cannot be undone" in asked.text
    assert "/kill secret first" in await chat.type(asked.actions[0].line)
    await chat.type("/kill secret")
    assert "secret is forgotten" in await chat.type(asked.actions[0].line)
    assert "not found" in await chat.type("/output secret")
    events = await chat.daemon.log.events(limit=1000)
    assert [event for event in events if event.session == state.id] == []
    assert isinstance(events[-2].payload, SessionForgotten)  # and its rule was revoked
    assert "milk" not in str([event.payload for event in events])
    assert chat.daemon.pool.rules.all() == []
    await chat.type("/new --name secret hello")  # its name is free
    await chat.idle("secret")


async def test_what_nobody_uses_leaves_the_memory_and_is_there_when_it_is_asked_for(
    sandbox: Sandbox, workdir: Path
) -> None:
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        book = chat.daemon.book
        await chat.type("/new --fg --name a remember the milk")
        state = await chat.idle("a")
        await chat.type("/sleep a")
        await eventually(lambda: a_while_later(clock) and book.state(state.id) is None)
        assert clock.monotonic() > 3600
        await chat.type("what was it?")  # it is still in the foreground
        await chat.until("a", lambda s: s.blocks == 2)
        assert "You said: remember the milk" in await chat.type("/output a")


def a_while_later(clock: ManualClock) -> bool:
    clock.advance(60)
    return True


async def test_beyond_the_bound_the_oldest_is_found_by_its_id_only(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    clock = ManualClock()
    settings = settings_for(workdir, max_persisted_sessions=10)
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.type("/new --name first remember the milk")
        first = await chat.idle("first")
        await chat.type("/kill first")
        for n in range(10):
            await chat.daemon.manager.adopt(first.spec, f"c{n}", "other", name=f"other-{n}")
        clock.advance(301)
        await eventually(lambda: chat.daemon.log.store.session_row("first") is None)
        assert "not found" in await chat.type("/output first")
        await chat.type(f"/resume {first.id} what was it?")
        await model.asked("what was it?")
        assert "remember the milk" in str(model.about("what was it?")[0].messages)


async def test_words_that_are_still_coming_are_noted_once_a_second(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("talk", say("So far ", gate, "and on."))
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        store = chat.daemon.log.store
        await chat.type("/new --name a talk")
        await gate.reached()
        state = await chat.state("a")
        await eventually(lambda: chat.daemon.log.open_text(state.id) == "So far ")
        clock.advance(1.1)
        await eventually(lambda: (store.draft(state.id) or ("", ""))[1] == "So far ")
        gate.open()
        await chat.idle("a")
        clock.advance(1.1)
        await eventually(lambda: store.draft(state.id) is None)


async def test_stats_are_right_over_wakes_resumes_and_restarts(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hang", hang())
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        await chat.type("/sleep a")
        await chat.type("/say a again")
        await chat.until("a", lambda s: s.blocks == 2 and s.turn is None)
        await chat.type("/kill a")
        await chat.type("/kill a")
        await chat.type("/new --once --name b hello")
        await chat.ended("b")
        await chat.type("/resume a third")
        await chat.until("a", lambda s: s.blocks == 3 and s.turn is None)
        spent = (await chat.state("a")).cost_usd + (await chat.state("b")).cost_usd
        await chat.type("/new --name c hang")
        await model.asked("hang")
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/kill c")
        data = (await chat.reply("/stats")).data
        assert data["totalLaunched"] == 3
        assert data["sessionsByStatus"] == {"completed": 1, "failed": 0, "killed": 2, "running": 0}
        assert abs(data["totalCostUsd"] - spent) < 1e-9
        assert sum(data["costPerDay"].values()) == data["totalCostUsd"]
        assert data["mostExpensive"]["name"] == "a"
        assert data["costUnknownRuns"] == 1
