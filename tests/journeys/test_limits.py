"""Money and usage limits: of a session, of a day, of the account."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

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
    usage,
)
from claude_sessions.model import Reason, Role, Status
from tests.journeys.chat import chatting, settings_for

DEAR = usage(input=100_000, output=10)  # about half a dollar
RESETS = datetime(2026, 1, 1, 5, tzinfo=UTC)
LIMIT = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": str(int(RESETS.timestamp())),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
}


async def test_a_spent_session_goes_on_when_it_is_given_more(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("dear", DEAR, say("That was dear."))
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a --budget 0.1 dear")
        spent = await chat.ended("a")
        assert (spent.status, spent.reason) == (Status.FAILED, Reason.BUDGET)
        assert "/budget a +5" in await chat.type("/resume a go on")
        assert "a may spend $" in await chat.type("/budget a +5")
        await chat.type("/resume a go on")
        state = await chat.until("a", lambda s: s.blocks == 2 and s.turn is None)
        assert state.spec.budget_usd == pytest.approx(spent.cost_usd + 5)


async def test_more_money_reaches_a_session_that_is_awake(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("dear", DEAR, say("That was dear."))
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a --budget 0.6 hello")
        await chat.idle("a")
        await chat.type("/budget a +5")
        assert (await chat.state("a")).status is Status.ASLEEP  # its process knew the old one
        for n in (2, 3):
            await chat.type("/say a dear")
            await chat.until("a", lambda s, n=n: s.blocks == n and s.turn is None)  # type: ignore[misc]
        assert (await chat.state("a")).cost_usd > 0.6


async def test_more_money_during_a_turn_reaches_what_comes_after_it(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("dear", gate, DEAR, say("That was dear."))
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a --budget 0.4 dear")
        await gate.reached()
        await chat.type("/say a and then?")
        await chat.type("/budget a 5")
        gate.open()
        state = await chat.until("a", lambda s: s.turn is None and not s.queue and s.blocks >= 2)
        assert state.status is Status.RUNNING
        assert "and then?" in model.prompts()


async def test_a_program_cannot_give_itself_more_money(sandbox: Sandbox, workdir: Path) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        robot = chat.somebody(Role.PROMPTER, "robot")
        robot.caller = robot.caller.__class__(
            name="robot", role=Role.PROMPTER, door="mcp", channel=robot.channel.id, agent=True
        )
        assert "only an admin may" in await robot.type("/budget a +100")
        assert "has spent" in await chat.type("/budget a 0.000001")


async def test_a_day_s_money_is_for_all_sessions_and_comes_again_the_next_day(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("dear", DEAR, say("That was dear."))
    clock = ManualClock()
    settings = settings_for(workdir, daily_budget_usd=0.3, continue_after_limit=True)
    async with chatting(sandbox, workdir, settings=settings, clock=clock) as chat:
        gate = Gate()
        script.on("wait", gate, DEAR, say("Waited."))
        await chat.type("/new --name a wait")
        await gate.reached()
        await chat.type("/say a and then?")
        gate.open()
        parked = await chat.until("a", lambda s: s.status is Status.PARKED)
        assert [message.text for message in parked.queued][-1] == "and then?"
        assert "Today's budget of $0.30 is spent" in (await chat.shows(Kind.LIMIT)).text
        assert "Today's budget of $0.30 is spent" in await chat.type("/new --name b hello")
        clock.advance(24 * 3600 + 61)
        await chat.until("a", lambda s: s.turn is None and not s.queue and s.turns >= 2)
        assert "and then?" in model.prompts()


async def test_at_a_usage_limit_the_session_is_parked_with_its_prompt_and_offered_afterwards(
    script: Script, model: ScriptedModel, tmp_path: Path, workdir: Path
) -> None:
    script.on("work", error(429, "limit", headers=LIMIT, times=1), say("Done."))
    sandbox = Sandbox(tmp_path, model.url, subscription=True)
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --name a please work")
        parked = await chat.until("a", lambda s: s.status is Status.PARKED)
        assert parked.resets_at == RESETS.timestamp()
        assert [message.text for message in parked.queued] == ["please work"]
        assert "parked until" in await chat.type("/sessions")
        assert "parked until" in await chat.type("/say a and then tell me")
        asked = model.count
        clock.advance(5 * 3600 + 61)
        told = await chat.shows(Kind.NOTICE, "The limit has reset")
        assert model.count == asked  # only when a person says so
        await chat.type(told.actions[0].line)
        await chat.until("a", lambda s: s.blocks == 2 and s.turn is None and not s.queue)
        assert model.prompts()[-1] == "and then tell me"


async def test_whoever_opted_in_goes_on_by_itself_after_the_reset_also_over_a_restart(
    script: Script, model: ScriptedModel, tmp_path: Path, workdir: Path
) -> None:
    script.on("work", bash("true"), error(429, "limit", headers=LIMIT, times=1), say("Done."))
    sandbox = Sandbox(tmp_path, model.url, subscription=True)
    settings = settings_for(workdir, continue_after_limit=True)
    async with chatting(sandbox, workdir, clock=ManualClock(), settings=settings) as chat:
        await chat.type("/new --allow Bash --name a please work")
        parked = await chat.until("a", lambda s: s.status is Status.PARKED)
        assert [m.text for m in parked.queued] == ["Continue where you left off."]
    later = ManualClock(RESETS)
    async with chatting(sandbox, workdir, clock=later, settings=settings) as chat:
        assert (await chat.state("a")).status is Status.PARKED
        later.advance(61)
        await chat.until("a", lambda s: s.status is Status.RUNNING and not s.queue and not s.turn)
        assert "Continue where you left off." in str(model.requests[-1].messages)


async def test_a_parked_session_can_be_tried_at_once(
    script: Script, model: ScriptedModel, tmp_path: Path, workdir: Path
) -> None:
    script.on("work", error(429, "limit", headers=LIMIT, times=1), say("Done."))
    sandbox = Sandbox(tmp_path, model.url, subscription=True)
    async with chatting(sandbox, workdir, clock=ManualClock()) as chat:
        await chat.type("/new --name a work")
        await chat.until("a", lambda s: s.status is Status.PARKED)
        await chat.type("/resume a")
        await chat.until("a", lambda s: s.blocks == 1 and not s.queue)
