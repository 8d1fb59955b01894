"""Launching, talking, watching, ending: chat text to chat text."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import psutil

from claude_sessions.channel import Kind
from claude_sessions.clock import ManualClock
from claude_sessions.demo import (
    Gate,
    Sandbox,
    Script,
    ScriptedModel,
    bash,
    error,
    hang,
    say,
    usage,
)
from claude_sessions.events import (
    MessageConsumed,
    SessionEnded,
    SessionStarted,
    TurnInterrupted,
)
from claude_sessions.model import Reason, Role, Status
from tests.journeys.chat import Chat, chatting, settings_for


async def test_a_launch_answers_by_name_and_the_words_arrive(script: Script, chat: Chat) -> None:
    script.on("fix the login", say("It is fixed."))
    reply = await chat.type("/new --fg --name fix-auth Please fix the login")
    assert "fix-auth" in reply
    await chat.idle("fix-auth")
    await chat.shows(Kind.STREAM, "It is fixed.")
    assert "It is fixed." in await chat.type("/output fix-auth")


async def test_a_name_is_made_from_the_prompt_and_a_taken_one_gets_a_number(chat: Chat) -> None:
    await chat.type("/new Fix the login page please")
    assert (await chat.idle("fix-login-page")).name == "fix-login-page"
    reply = await chat.type("/new --name fix-login-page again")
    assert "fix-login-page-2" in reply
    assert "taken" in reply


async def test_two_sessions_work_side_by_side(script: Script, chat: Chat) -> None:
    gate = Gate()
    script.on("slow", say("One ", gate, "two."))
    script.on("quick", say("Done."))
    await chat.type("/new --name slow slow")
    await chat.working("slow")
    await chat.type("/new --name quick quick")
    await chat.idle("quick")
    assert (await chat.state("slow")).turn is not None
    gate.open()
    await chat.idle("slow")


async def test_a_follow_up_continues_the_conversation(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    await chat.type("/new --fg --name talk first")
    await chat.idle("talk")
    await chat.type("second")
    await model.asked("second")
    await chat.idle("talk")
    assert "first" in str(model.about("second")[0].messages)


async def test_a_message_to_a_working_session_is_queued_and_delivered_after_it(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    gate = Gate()
    script.on("work", say("Working ", gate, "done."))
    await chat.type("/new --name busy work")
    await gate.reached()
    reply = await chat.type("/say busy and then this")
    assert "Queued" in reply
    assert [m.text for m in (await chat.state("busy")).queued] == ["and then this"]
    gate.open()
    await model.asked("and then this")
    await chat.idle("busy")
    assert model.prompts() == ["work", "and then this"]


async def test_a_queued_message_can_be_withdrawn(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    gate = Gate()
    script.on("work", say("Working ", gate, "done."))
    await chat.type("/new --name busy work")
    await gate.reached()
    reply = await chat.reply("/say busy never mind")
    await chat.type(f"/withdraw busy {reply.data['messageId']}")
    gate.open()
    await chat.idle("busy")
    assert model.prompts() == ["work"]


async def test_interrupt_and_say_goes_before_what_is_queued(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    gate = Gate()
    script.on("work", say("Working ", gate, "done."))
    await chat.type("/new --name busy work")
    await gate.reached()
    await chat.type("/say busy later")
    await chat.type("/say --interrupt busy now this")
    await model.asked("later")
    await chat.idle("busy")
    assert model.prompts() == ["work", "now this", "later"]


async def test_steering_joins_the_running_turn(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("work", bash("touch made"), say("Done."))
    await chat.type("/new --name busy work")
    asked = await chat.asked("busy")
    await chat.type("/say --steer busy be quick")
    await chat.type(f"/allow {asked.id}")
    state = await chat.idle("busy")
    assert state.turns == 1
    assert [r.steered for r in model.about("be quick")] == [("be quick",)]


async def test_an_interrupt_ends_the_turn_and_keeps_what_was_said(
    script: Script, chat: Chat
) -> None:
    gate = Gate()
    script.on("talk", say("Once upon ", gate, "a time."))
    await chat.type("/new --fg --name talk talk")
    await chat.shows(Kind.STREAM, "Once upon")  # Claude has read it, not only been sent it
    assert "interrupted" in await chat.type("/interrupt talk")
    await chat.idle("talk")
    assert "Once upon" in await chat.type("/output talk")


async def test_a_kill_ends_the_run_once_and_a_second_one_says_so(
    script: Script, chat: Chat
) -> None:
    script.on("hang", hang())
    await chat.type("/new --name stuck hang")
    pid = await _pid(chat, "stuck")
    assert "stuck" in await chat.type("/kill stuck")
    state = await chat.state("stuck")
    assert (state.status, state.reason) == (Status.KILLED, Reason.USER)
    assert not psutil.pid_exists(pid)
    assert "already" in (await chat.type("/kill stuck")).lower()
    events = await chat.daemon.log.events(state.id, limit=1000)
    assert len([x for x in events if isinstance(x.payload, SessionEnded)]) == 1


async def test_a_kill_while_it_starts_leaves_nothing(chat: Chat) -> None:
    await chat.type("/new --name early hello")
    await chat.type("/kill early")
    assert (await chat.state("early")).status is Status.KILLED
    assert not psutil.Process().children(recursive=True)


async def test_a_killed_session_is_resumed_by_name_with_its_conversation(
    model: ScriptedModel, chat: Chat
) -> None:
    await chat.type("/new --name again remember the milk")
    first = await chat.idle("again")
    await chat.type("/kill again")
    assert "again" in await chat.type("/resume again what was it?")
    state = await chat.idle("again")
    assert state.runs == 2
    assert state.claude_ids == first.claude_ids
    assert "remember the milk" in str(model.about("what was it")[0].messages)


async def test_a_resume_without_words_continues(model: ScriptedModel, chat: Chat) -> None:
    await chat.type("/new --name again hello")
    await chat.idle("again")
    await chat.type("/kill again")
    await chat.type("/claude_resume again")
    await model.asked("Continue where you left off.")


async def test_a_fork_branches_and_leaves_the_source_alone(
    model: ScriptedModel, chat: Chat
) -> None:
    await chat.type("/new --name trunk remember the milk")
    trunk = await chat.idle("trunk")
    assert "trunk-fork" in await chat.type("/resume --fork trunk another way")
    fork = await chat.idle("trunk-fork")
    assert fork.claude_ids != trunk.claude_ids
    assert "remember the milk" in str(model.about("another way")[0].messages)


async def test_once_is_one_turn_that_completes(script: Script, chat: Chat) -> None:
    script.on("count", say("1, 2, 3."))
    await chat.type("/new --once --name single count")
    state = await chat.ended("single")
    assert (state.status, state.reason) == (Status.COMPLETED, Reason.DONE)
    await chat.shows(Kind.COMPLETED)


async def test_what_happened_in_the_background_is_caught_up_exactly(
    script: Script, chat: Chat
) -> None:
    script.on("one", say("Block one."))
    script.on("two", say("Block two."))
    script.on("three", say("Block three."))
    await chat.type("/new --fg --name talk one")
    await chat.idle("talk")
    await chat.type("/bg talk")
    for word in ("two", "three"):
        await chat.type(f"/say talk {word}")
        await chat.until("talk", lambda s, w=word: s.turn is not None or s.blocks > 0)  # type: ignore[misc]
        await chat.idle("talk")
    reply = await chat.reply("/fg talk")
    assert reply.data["missed"] == ["Block two.", "Block three."]
    assert "2 missed" in reply.text


async def test_catch_up_is_exact_after_the_buffer_has_turned_over(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    settings = settings_for(workdir, output_blocks=2)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --fg --name talk hello")
        await chat.idle("talk")
        await chat.type("/bg")
        for n in range(5):
            await chat.type(f"/say talk word {n}")
            await chat.until("talk", lambda s, n=n: s.blocks == n + 2)  # type: ignore[misc]
            await chat.idle("talk")
        missed = (await chat.reply("/fg talk")).data["missed"]
        assert missed == [f"You said: word {n}" for n in range(5)]


async def test_several_in_the_foreground_and_plain_text_goes_to_the_last(
    model: ScriptedModel, chat: Chat
) -> None:
    await chat.type("/new --fg --name a hello a")
    await chat.type("/new --fg --name b hello b")
    await chat.idle("a")
    await chat.idle("b")
    await chat.type("/fg a")
    await chat.type("just talking")
    state = await chat.until("a", lambda s: s.turns == 2)
    assert state.turns == 2
    assert (await chat.state("b")).turns == 1


async def test_plain_text_with_nobody_in_front_says_what_to_do(chat: Chat) -> None:
    assert "/fg" in await chat.type("hello?")


async def test_an_api_error_is_shown_and_the_session_lives_on(script: Script, chat: Chat) -> None:
    script.on("fail", error(403, "not today"))
    await chat.type("/new --fg --name unlucky fail")
    await chat.until("unlucky", lambda s: s.turns == 1 and s.turn is None)
    await chat.shown(lambda n: "not today" in n.text)
    await chat.type("try again")
    await chat.until("unlucky", lambda s: s.blocks == 1)


async def test_an_expired_login_is_said_once_with_the_remedy(script: Script, chat: Chat) -> None:
    script.on("fail", error(401, "expired"))
    await chat.type("/new --name out fail")
    await chat.shown(lambda n: "log in" in n.text)
    await chat.until("out", lambda s: s.turn is None and s.turns == 1)
    told = [n for n in chat.channel.sent if n.kind is Kind.NOTICE]
    assert len(told) == 1


async def test_a_spent_budget_ends_the_run_with_one_notification(
    script: Script, chat: Chat
) -> None:
    script.on("spend", usage(output=100_000), bash("ls"), say("More."))
    await chat.type("/new --name dear --budget 0.01 spend")
    state = await chat.ended("dear")
    assert (state.status, state.reason) == (Status.FAILED, Reason.BUDGET)
    await chat.shows(Kind.LIMIT)
    assert Kind.FAILED not in chat.kinds()


async def test_words_that_a_dead_process_left_unfinished_are_kept(
    script: Script, chat: Chat
) -> None:
    gate = Gate()
    script.on("talk", say("Once upon ", gate, "a time."))
    await chat.type("/new --fg --name talk talk")
    await chat.shows(Kind.STREAM, "Once upon")
    os.kill(await _pid(chat, "talk"), signal.SIGKILL)
    state = await chat.ended("talk")
    assert state.blocks == 1
    assert "Once upon" in await chat.type("/output talk")
    events = await chat.daemon.log.events(state.id, limit=1000)
    (cut,) = [x.payload for x in events if isinstance(x.payload, TurnInterrupted)]
    assert cut.partial_text.startswith("Once upon")
    assert cut.cost_usd is None


async def test_a_dead_process_fails_its_session_and_no_other(script: Script, chat: Chat) -> None:
    script.on("hang", hang())
    await chat.type("/new --name doomed hang")
    await chat.type("/new --name fine hello")
    os.kill(await _pid(chat, "doomed"), signal.SIGKILL)
    state = await chat.ended("doomed")
    assert (state.status, state.reason) == (Status.FAILED, Reason.CRASH)
    assert state.cost_unknown
    await chat.shows(Kind.FAILED)
    await chat.idle("fine")


async def test_claude_s_own_slash_commands_pass_and_unknown_ones_are_refused(
    model: ScriptedModel, chat: Chat
) -> None:
    await chat.type("/new --fg --name talk hello")
    await chat.idle("talk")
    await chat.type("//context")
    await chat.until("talk", lambda s: s.turns == 2 and s.turn is None)
    refused = await chat.type("/say talk /frobnicate")
    assert "/compact" in refused
    assert model.prompts() == ["hello"]


async def test_the_pool_makes_room_by_putting_the_idle_to_sleep_and_they_wake(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name a remember the milk")
        await chat.idle("a")
        await chat.type("/new --name b hello")
        await chat.idle("b")
        assert (await chat.state("a")).status is Status.ASLEEP
        await chat.type("/say a what was it?")
        await chat.until("a", lambda s: s.blocks == 2)
        assert (await chat.state("b")).status is Status.ASLEEP
        assert "remember the milk" in str(model.about("what was it")[0].messages)


async def test_a_full_pool_refuses_and_names_who_works(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hang", hang())
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name a hang")
        await chat.working("a")
        reply = await chat.type("/new --name b hello")
        assert "Max sessions reached (1)" in reply
        assert "a" in reply
        assert await chat.type("/sessions") == await chat.type("/claude_sessions")


async def test_a_waiting_session_does_not_count(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    settings = settings_for(workdir, max_sessions=1)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name a make")
        await chat.asked("a")
        await chat.type("/new --name b hello")
        await chat.idle("b")


async def test_an_idle_session_falls_asleep(sandbox: Sandbox, workdir: Path) -> None:
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        state = await chat.later(clock, "a", lambda s: s.status is Status.ASLEEP)
        assert state.reason is Reason.IDLE
        assert clock.monotonic() > 30 * 60


async def test_an_idle_session_is_killed_where_configured(sandbox: Sandbox, workdir: Path) -> None:
    clock = ManualClock()
    settings = settings_for(workdir, idle_action="kill")
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        state = await chat.later(clock, "a", lambda s: s.status.ended)
        assert (state.status, state.reason) == (Status.KILLED, Reason.IDLE)
        await chat.shows(Kind.KILLED)


async def test_after_a_stop_sessions_sleep_and_the_next_daemon_wakes_them(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a remember the milk")
        await chat.idle("a")
    assert not psutil.Process().children(recursive=True)
    async with chatting(sandbox, workdir) as chat:
        state = await chat.state("a")
        assert (state.status, state.reason) == (Status.ASLEEP, Reason.SHUTDOWN)
        await chat.type("/say a what was it?")
        await chat.until("a", lambda s: s.blocks == 2)
        assert "remember the milk" in str(model.about("what was it")[0].messages)


async def test_stats_and_cost_count_each_run_once(script: Script, chat: Chat) -> None:
    await chat.type("/new --once --name one hello")
    await chat.ended("one")
    await chat.type("/new --name two hello")
    await chat.idle("two")
    await chat.type("/kill two")
    data = (await chat.reply("/stats")).data
    assert data["totalLaunched"] == 2
    assert data["sessionsByStatus"]["completed"] == 1
    assert data["sessionsByStatus"]["killed"] == 1
    assert data["totalCostUsd"] > 0
    assert "$" in await chat.type("/cost one")


async def test_a_rename_holds_and_a_taken_name_is_refused(chat: Chat) -> None:
    await chat.type("/new --name a hello")
    await chat.type("/new --name b hello")
    assert "is now c" in await chat.type("/rename a c")
    assert "taken" in await chat.type("/rename b c")
    assert (await chat.idle("c")).name == "c"


async def test_a_message_is_logged_before_and_as_consumed(chat: Chat) -> None:
    await chat.type("/new --name a hello")
    state = await chat.idle("a")
    events = await chat.daemon.log.events(state.id, limit=1000)
    types = [event.type for event in events]
    assert types.index("user.message") < types.index("message.sent")
    assert types.index("message.sent") < types.index("turn.started")
    assert any(isinstance(event.payload, MessageConsumed) for event in events)
    assert types.index("session.started") < types.index("message.sent")
    assert [x.payload.claude_session_id for x in events if isinstance(x.payload, SessionStarted)]
    assert [event.session_seq for event in events] == list(range(1, len(events) + 1))


async def test_model_and_mode_are_changed_on_the_fly(model: ScriptedModel, chat: Chat) -> None:
    await chat.type("/new --fg --name a hello")
    await chat.idle("a")
    await chat.type("/model a claude-haiku-4-5")
    await chat.type("/mode a plan")
    await chat.type("again")
    request = await model.asked("again")
    assert "haiku" in request.model
    assert (await chat.state("a")).spec.mode == "plan"


async def test_a_background_task_is_listed_and_stopped(script: Script, chat: Chat) -> None:
    loop = "while true; do python3 -c 'import time; time.sleep(1)'; done"
    script.on("serve", bash(loop, run_in_background=True), say("It runs."))
    await chat.type("/new --name server serve")
    await chat.type(f"/allow {(await chat.asked('server')).id}")
    state = await chat.until("server", lambda s: bool(s.tasks) and s.turn is None)
    assert state.tasks[0].id in await chat.type("/tasks server")
    await chat.type(f"/tasks stop server {state.tasks[0].id}")
    await chat.until("server", lambda s: not s.tasks)


async def _pid(chat: Chat, name: str) -> int:
    state = await chat.working(name)
    for event in await chat.daemon.log.events(state.id, limit=1000):
        if (pid := getattr(event.payload, "pid", None)) is not None:
            return int(pid)
    raise AssertionError(f"{name} has no process")


async def test_a_queued_message_can_still_be_said_now(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("work", bash("touch made"), say("Done."))
    await chat.type("/new --name busy work")
    asked = await chat.asked("busy")
    reply = await chat.reply("/say busy be quick")
    now = next(action for action in reply.actions if "--steer" in action.line)
    await chat.type(now.line)
    await chat.type(f"/allow {asked.id}")
    await chat.idle("busy")
    assert [r.steered for r in model.about("be quick")] == [("be quick",)]
    assert model.prompts() == ["work"]


async def test_a_spent_session_goes_on_with_a_new_budget(script: Script, chat: Chat) -> None:
    script.on("spend", usage(output=100_000), bash("ls"), say("More."))
    await chat.type("/new --name dear --budget 0.01 spend")
    await chat.ended("dear")
    assert "--budget" in await chat.type("/resume dear go on")
    await chat.type("/resume --budget 1 dear go on")
    state = await chat.idle("dear")
    assert state.cost_usd > 0.01
    assert state.budget_left is not None
    assert 0 < state.budget_left < 1


async def test_a_resume_may_move_and_change_the_model(
    model: ScriptedModel, chat: Chat, workdir: Path
) -> None:
    (workdir / "sub").mkdir()
    await chat.type("/new --name mover hello")
    await chat.idle("mover")
    assert "use /mode or /model" in await chat.type("/resume --model claude-haiku-4-5 mover x")
    await chat.type("/kill mover")
    await chat.type("/resume --dir sub --model claude-haiku-4-5 mover where am I?")
    request = await model.asked("where am I")
    assert "haiku" in request.model
    assert (await chat.idle("mover")).spec.directory == str(workdir / "sub")


async def test_a_program_never_sets_a_loosened_session_to_work(chat: Chat) -> None:
    await chat.type("/new --name loose --mode acceptEdits hello")
    await chat.idle("loose")
    agent = chat.somebody(Role.PROMPTER, "agent")
    agent.caller = replace(agent.caller, agent=True)
    assert "only an admin" in await agent.type("/say loose rm -rf everything")
    assert "only an admin" in await agent.type("/resume loose")


async def test_after_a_restart_plain_text_goes_to_whoever_was_in_front(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --fg --name a remember the milk")
        await chat.idle("a")
    async with chatting(sandbox, workdir) as chat:
        await chat.type("what was it?")
        await chat.until("a", lambda s: s.blocks == 2)
        assert "remember the milk" in str(model.about("what was it")[0].messages)
