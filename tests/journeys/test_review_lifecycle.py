"""What a sceptic found in the life of sessions: each of these went wrong once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil

from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, error, hang, say, usage
from claude_sessions.demo.sandbox import BUNDLED_CLI
from claude_sessions.events import SessionStarted, TurnCompleted, UserMessage
from claude_sessions.model import Reason, Role, Status
from claude_sessions.sessions.housekeeping import Housekeeping
from claude_sessions.settings import ScheduleSettings
from tests.journeys.chat import Chat, chatting, settings_for
from tests.waiting import eventually

RESETS = datetime(2026, 1, 1, 5, tzinfo=UTC)
LIMIT = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": str(int(RESETS.timestamp())),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
}


def housekeeping(chat: Chat, clock: ManualClock) -> Housekeeping:
    return Housekeeping(
        log=chat.daemon.log,
        book=chat.daemon.book,
        manager=chat.daemon.manager,
        clock=clock,
        max_persisted=1000,
        continue_after_limit=True,
    )


async def test_a_limit_that_resets_while_people_act_starts_nobody_twice(
    script: Script, model: ScriptedModel, tmp_path: Path, workdir: Path
) -> None:
    script.on("work", error(429, "limit", headers=LIMIT, times=3), say("Done."))
    sandbox = Sandbox(tmp_path, model.url, subscription=True)
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        for name in ("a", "b", "c"):
            await chat.type(f"/new --name {name} work")
            await chat.until(name, lambda s: s.status is Status.PARKED)
        clock._elapsed += 6 * 3600  # nobody's alarm rings: only what is asked below happens
        chores = housekeeping(chat, clock)
        await asyncio.gather(
            chat.type("/resume a"),
            chores.check_limits(),
            chat.type("/kill b"),
            chat.type("/say c x"),
        )
        await chat.until("a", lambda s: s.blocks == 1 and s.turn is None)
        await chat.until("c", lambda s: s.blocks == 2 and s.turn is None)
        assert (await chat.state("b")).status is Status.KILLED
        for name, starts in (("a", 2), ("b", 1), ("c", 2)):
            events = await chat.daemon.log.events((await chat.state(name)).id, limit=1000)
            assert sum(isinstance(x.payload, SessionStarted) for x in events) == starts
        assert chat.daemon.log.store.line() == []
        assert chat.daemon.manager.place_in_line((await chat.state("b")).id) == 0


async def test_a_kill_while_others_are_asked_who_has_it_open_leaves_no_process(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path, tmp_path: Path
) -> None:
    cli = tmp_path / "slow-agents"
    cli.write_text(
        f'#!/bin/sh\nif [ "$1" = agents ]; then while [ -e "{tmp_path}/wait" ]; do :; done; fi\n'
        f'exec "{BUNDLED_CLI}" "$@"\n'
    )
    cli.chmod(0o755)
    settings = settings_for(workdir, cli_path=cli)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        await chat.type("/sleep a")
        (tmp_path / "wait").touch()
        note = sandbox.home / ".claude" / "sessions" / "999999.json"  # of one that was killed
        note.write_text(json.dumps({"sessionId": (await chat.state("a")).claude_id}))
        await chat.type("/say a are you there?")
        await eventually(lambda: claudes(sandbox))
        await chat.type("/kill a")
        await eventually(lambda: not claudes(sandbox))
        (tmp_path / "wait").unlink()
        await chat.type("/resume a")
        state = await chat.until("a", lambda s: s.blocks == 2)
        assert state.reason is not Reason.ELSEWHERE


def claudes(sandbox: Sandbox) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if (
                process.environ().get("HOME") == str(sandbox.home)
                and "--input-format" in process.cmdline()
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


async def test_one_that_is_forgotten_in_the_line_holds_nobody_up(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("slow", say("One ", gate, "two."))
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name busy slow")
        await gate.reached()
        for name in ("a", "b"):
            await chat.type(f"/new --queue --name {name} hello")
        assert "forgotten" in await chat.type("/forget a --yes")
        gate.open()
        await chat.until("b", lambda s: s.blocks == 1)


async def test_what_is_looked_up_twice_at_once_after_it_was_trimmed_is_found_twice(
    chat: Chat,
) -> None:
    await chat.type("/new --name a hello")
    state = await chat.idle("a")
    await chat.type("/kill a")
    await chat.daemon.log.change(lambda store: store.trim(0))
    chat.daemon.book.drop(state.id)
    found = await asyncio.gather(*(chat.daemon.book.find(state.id) for _ in range(3)))
    assert {one.name for one in found} == {"a"}
    assert not chat.daemon.log.failed.is_set()


async def test_a_turn_that_ends_on_the_next_day_is_not_out_of_its_own_money(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("dear", gate, usage(input=100_000, output=10), say("Half of it."))
    clock = ManualClock(datetime(2026, 1, 1, 23, 50, tzinfo=UTC))
    utc = {"schedules": ScheduleSettings(timezone="UTC")}
    settings = settings_for(workdir, daily_budget_usd=0.3).model_copy(update=utc)
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.type("/new --name a dear")
        await gate.reached()
        clock._elapsed += 20 * 60
        gate.open()
        state = await chat.until("a", lambda s: s.turns >= 1 and s.turn is None)
        assert not state.status.ended


async def test_a_program_gets_no_more_money_by_any_door(sandbox: Sandbox, workdir: Path) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        await chat.type("/kill a")
        robot = chat.somebody(Role.PROMPTER, "robot")
        robot.caller = replace(robot.caller, agent=True)
        for line in ("/budget a +100", "/resume --budget 100 a go on", "/new --budget 100 hello"):
            assert "only an admin may" in await robot.type(line)
        assert "only an admin may" in await robot.type("/resume --fork --budget 100 a go on")
        assert "goes on" in await robot.type("/resume a go on")


async def test_the_conversation_s_id_is_known_before_anything_is_said_in_it(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("hang", hang())
    await chat.type("/new --name a hang")
    await model.asked("hang")
    events = await chat.daemon.log.events((await chat.state("a")).id, limit=1000)
    (started,) = [x.payload for x in events if isinstance(x.payload, SessionStarted)]
    assert started.claude_session_id == model.requests[0].session_id


async def test_what_a_limit_cut_off_is_kept_in_the_same_breath(
    script: Script, model: ScriptedModel, tmp_path: Path, workdir: Path
) -> None:
    script.on("work", error(429, "limit", headers=LIMIT, times=1), say("Done."))
    sandbox = Sandbox(tmp_path, model.url, subscription=True)
    async with chatting(sandbox, workdir, clock=ManualClock()) as chat:
        await chat.type("/new --name a work")
        state = await chat.until("a", lambda s: s.status is Status.PARKED)
        events = await chat.daemon.log.events(state.id, limit=1000)
        kinds = [type(event.payload) for event in events]
        place = kinds.index(TurnCompleted)
        assert kinds[place + 1] is UserMessage
        assert events[place].at == events[place + 1].at


async def test_more_money_and_more_to_do_never_make_two_of_one(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    gates = [Gate() for _ in range(3)]
    for n, gate in enumerate(gates):
        script.on(f"slow {n}", say("One ", gate, "two."))
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a slow 0")
        for n, gate in enumerate(gates):
            await gate.reached()
            if n < 2:
                await chat.type(f"/say a slow {n + 1}")
                await chat.type("/budget a +1")
            gate.open()
        await chat.idle("a")
        assert model.prompts() == ["slow 0", "slow 1", "slow 2"]
        assert "killed" in await chat.type("/kill a")
        assert claudes(sandbox) == []


async def test_what_somebody_has_just_asked_for_stays_in_memory_however_old(chat: Chat) -> None:
    await chat.type("/new --name a hello")
    state = await chat.idle("a")
    await chat.type("/kill a")
    book, later = chat.daemon.book, datetime(2100, 1, 1, tzinfo=UTC)
    await book.find("a")  # a wake may be on its way
    book.drop_unused(later, but=())
    assert book.state(state.id) is not None
    book.drop_unused(later, but=())
    assert book.state(state.id) is None


async def test_to_continue_is_pressed_twice_and_done_once(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hang", hang())
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hang")
        await model.asked("hang")
        await chat.type("/say a and then?")
    async with chatting(sandbox, workdir) as chat:
        await asyncio.gather(*(chat.type("/resume a") for _ in range(3)))
        await chat.until("a", lambda s: s.blocks >= 1 and s.turn is None and not s.queue)
        assert model.prompts().count("and then?") == 1
        assert len(claudes(sandbox)) == 1
