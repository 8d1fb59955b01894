"""What a session waits on, decided by people, rules and modes: chat text to chat text."""

from __future__ import annotations

import json
from pathlib import Path

from claude_sessions.channel import Kind
from claude_sessions.clock import ManualClock
from claude_sessions.demo import (
    Sandbox,
    Script,
    ScriptedModel,
    ask,
    bash,
    parallel,
    plan,
    question,
    questions,
    read,
    say,
    write,
)
from claude_sessions.events import ApprovalDelivered, ApprovalResolved, Event
from claude_sessions.model import PermissionMode, Role
from claude_sessions.settings import Settings
from tests.journeys.chat import Chat, chatting, settings_for


async def events_of(chat: Chat, name: str) -> list[Event]:
    return await chat.daemon.log.events((await chat.state(name)).id, limit=1000)


async def resolutions(chat: Chat, name: str) -> list[ApprovalResolved]:
    payloads = [event.payload for event in await events_of(chat, name)]
    return [payload for payload in payloads if isinstance(payload, ApprovalResolved)]


async def test_allowed_is_in_the_log_before_claude_is_told_and_everybody_sees_by_whom(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --fg --name maker make")
    asked = await chat.asked("maker")
    card = await chat.shows(Kind.CARD)
    assert card.card is not None
    assert "touch made" in card.card.preview.body
    reply = await chat.type(f"/allow {asked.id}")
    assert "llowed" in reply
    await chat.idle("maker")
    assert (workdir / "made").exists()
    types = [event.type for event in await events_of(chat, "maker")]
    order = ["approval.requested", "approval.resolved", "approval.delivered", "tool.output"]
    assert [types.index(one) for one in order] == sorted(types.index(one) for one in order)
    shown = await chat.shown(lambda n: n.card is not None and "given to Claude" in n.card.decided)
    assert shown.card is not None
    assert "owner" in shown.card.decided


async def test_the_first_answer_wins_and_a_later_one_is_told_who_was_first(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name maker make")
    asked = await chat.asked("maker")
    other = chat.somebody(Role.APPROVER, "second")
    await chat.type(f"/deny {asked.id} not now")
    late = await other.type(f"/allow {asked.id}")
    assert "Already denied by owner" in late
    await chat.idle("maker")
    assert not (workdir / "made").exists()
    assert len(await resolutions(chat, "maker")) == 1


async def test_a_reason_reaches_claude(script: Script, model: ScriptedModel, chat: Chat) -> None:
    script.on("make", bash("touch made"), say("I see."))
    await chat.type("/new --name maker make")
    await chat.type(f"/deny {(await chat.asked('maker')).id} Use make instead")
    await chat.idle("maker")
    assert "Use make instead" in str(model.requests[-1].messages)


async def test_viewers_watch_and_prompters_talk_but_neither_decides(
    script: Script, chat: Chat
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name maker make")
    asked = await chat.asked("maker")
    for role in (Role.VIEWER, Role.PROMPTER):
        assert "You may not decide" in await chat.somebody(role, role).type(f"/allow {asked.id}")
    viewer = chat.somebody(Role.VIEWER)
    assert "You may not" in await viewer.type("/new hello")
    assert "maker" in await viewer.type("/sessions")
    assert (await chat.state("maker")).pending


async def test_for_this_session_makes_a_rule_that_answers_the_next_time(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --fg --name maker make")
    await chat.type(f"/allow {(await chat.asked('maker')).id} --scope session")
    await chat.idle("maker")
    await chat.type("make it again")
    state = await chat.until("maker", lambda s: s.turns == 2 and s.turn is None)
    assert not state.pending
    first, second = await resolutions(chat, "maker")
    assert (first.scope, second.by) == ("session", f"rule {first.rule}")
    assert "touch made" in await chat.type("/rules")
    await chat.type(f"/rules revoke {first.rule}")
    await chat.type("make it once more")
    assert await chat.asked("maker")


async def test_always_here_holds_for_another_session_of_the_directory(
    script: Script, chat: Chat
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name one make")
    await chat.type(f"/allow {(await chat.asked('one')).id} --scope project")
    await chat.type("/new --name two make")
    state = await chat.idle("two")
    assert state.blocks == 1


async def test_a_deny_rule_beats_an_allow_rule(script: Script, chat: Chat, workdir: Path) -> None:
    script.on("make", bash("touch made"), say("I see."))
    await chat.type("/rules add allow Bash(touch made)")
    await chat.type("/rules add deny Bash(touch *) --scope user")
    await chat.type("/new --name maker make")
    await chat.idle("maker")
    assert not (workdir / "made").exists()
    (verdict,) = await resolutions(chat, "maker")
    assert verdict.decision == "deny"


async def test_a_user_wide_rule_needs_an_admin(script: Script, chat: Chat) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name maker make")
    asked = await chat.asked("maker")
    approver = chat.somebody(Role.APPROVER)
    assert "only an admin" in await approver.type(f"/allow {asked.id} --scope user")
    assert "only an admin" in await approver.type("/rules add allow Bash(ls) --scope user")
    assert "only an admin" in await approver.type("/mode maker bypassPermissions")


async def test_edited_input_is_what_runs(script: Script, chat: Chat, workdir: Path) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name maker make")
    asked = await chat.asked("maker")
    await chat.type(f'/allow {asked.id} --input \'{{"command": "touch other"}}\'')
    await chat.idle("maker")
    assert (workdir / "other").exists()
    assert not (workdir / "made").exists()


async def test_a_question_takes_a_number_a_label_or_words(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("ask me", question("Which colour?", ["Red", "Blue"]), say("Thanks."))
    for name, answer, heard in (
        ("a", "/answer {} 2", "Blue"),
        ("b", "/answer {} a greenish grey", "a greenish grey"),
    ):
        await chat.type(f"/new --name {name} ask me")
        await chat.type(answer.format((await chat.asked(name)).id))
        await chat.idle(name)
        assert heard in model.requests[-1].last_tool_result


async def test_plain_text_answers_the_question_of_the_session_in_front(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("ask me", question("Which colour?", ["Red", "Blue"]), say("Thanks."))
    await chat.type("/new --fg --name asker ask me")
    await chat.asked("asker")
    await chat.type("Blue")
    await chat.idle("asker")
    assert "Blue" in model.requests[-1].last_tool_result


async def test_several_questions_take_as_many_answers(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    both = questions(ask("Size?", ["S", "L"]), ask("Extras?", ["Milk", "Sugar"], multi=True))
    script.on("coffee", both, say("Coming."))
    await chat.type("/new --name bar coffee")
    asked = await chat.asked("bar")
    assert "2 questions" in await chat.type(f"/answer {asked.id} 2")
    await chat.type(f"/answer {asked.id} 2 ; 1,2")
    await chat.idle("bar")
    heard = model.requests[-1].last_tool_result
    assert '"Size?"="L"' in heard
    assert "Milk, Sugar" in heard


async def test_a_plan_is_sent_back_with_feedback_and_then_approved_into_accept_edits(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("plan it", plan("1. Do it."), plan("1. Do it well."), say("Going."))
    await chat.type("/new --name planner --mode plan plan it")
    first = await chat.asked("planner")
    await chat.type(f"/deny {first.id} better, please")
    state = await chat.until("planner", lambda s: any(p.id != first.id for p in s.pending))
    assert "better, please" in str(model.requests[-1].messages)
    await chat.type(f"/allow {state.pending[0].id} --mode acceptEdits")
    state = await chat.idle("planner")
    assert state.spec.mode is PermissionMode.ACCEPT_EDITS


async def test_plan_mode_refuses_what_writes_or_runs(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("write", write(str(workdir / "made"), "x"), say("I see."))
    await chat.type("/new --name planner --mode plan write")
    state = await chat.idle("planner")
    assert not state.pending
    assert not (workdir / "made").exists()


async def test_dont_ask_refuses_what_no_rule_allows(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("both", bash("touch made"), bash("touch other"), say("I see."))
    await chat.type("/rules add allow Bash(touch other)")
    await chat.type("/new --name quiet --mode dontAsk both")
    await chat.idle("quiet")
    assert not (workdir / "made").exists()
    assert (workdir / "other").exists()


async def test_parallel_asks_are_all_shown_and_answered_one_by_one(
    script: Script, chat: Chat, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    script.on("read", parallel(read(str(tmp_path / "a")), read(str(tmp_path / "b"))), say("Both."))
    await chat.type("/new --name reader read")
    state = await chat.until("reader", lambda s: len(s.pending) == 2)
    inbox = await chat.type("/approvals")
    assert all(p.id in inbox for p in state.pending)
    for pending in state.pending:
        await chat.type(f"/allow {pending.id}")
    assert (await chat.idle("reader")).blocks == 1


async def test_an_interrupted_question_is_cancelled_everywhere(script: Script, chat: Chat) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --fg --name maker make")
    asked = await chat.asked("maker")
    await chat.shows(Kind.CARD)
    await chat.type("/interrupt maker")
    state = await chat.idle("maker")
    assert not state.pending
    (verdict,) = await resolutions(chat, "maker")
    assert verdict.decision == "cancelled"
    assert "Nothing waits" in await chat.type(f"/allow {asked.id}")
    assert not [
        e for e in await events_of(chat, "maker") if isinstance(e.payload, ApprovalDelivered)
    ]


async def test_a_kill_cancels_what_it_waited_on(script: Script, chat: Chat) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name maker make")
    await chat.asked("maker")
    await chat.type("/kill maker")
    (verdict,) = await resolutions(chat, "maker")
    assert verdict.decision == "cancelled"
    assert not chat.daemon.manager.live()


async def test_a_deadline_denies_with_a_reason_that_says_so(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("I see."))
    clock = ManualClock()
    base = settings_for(workdir).model_dump()
    settings = Settings.model_validate(base | {"approvals": {"timeout_seconds": 300}})
    async with chatting(sandbox, workdir, clock=clock, settings=settings) as chat:
        await chat.type("/new --name maker make")
        await chat.asked("maker")
        await chat.later(clock, "maker", lambda s: not s.pending)
        await chat.idle("maker")
        (verdict,) = await resolutions(chat, "maker")
        assert (verdict.decision, verdict.by) == ("deny", "timeout")
        assert "Nobody answered" in str(model.requests[-1].messages)


async def test_allow_in_advance_needs_an_approver_and_holds_for_that_session_only(
    script: Script, chat: Chat
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    prompter = chat.somebody(Role.PROMPTER)
    assert "You may not" in await prompter.type("/new --allow Bash(touch*) --name x make")
    await chat.type("/new --allow 'Bash(touch made)' --name one make")
    await chat.idle("one")
    await chat.type("/new --name two make")
    assert await chat.asked("two")


async def test_a_new_directory_runs_without_its_own_settings_until_trusted(
    script: Script, chat: Chat, workdir: Path
) -> None:
    (workdir / ".claude").mkdir()
    hook = {"type": "command", "command": f"touch {workdir}/hooked"}
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    (workdir / ".claude" / "settings.json").write_text(json.dumps(hooks))
    reply = await chat.reply("/new --name a hello")
    assert "CLAUDE.md" in reply.text
    assert any("rust" in action.label for action in reply.actions)
    await chat.idle("a")
    assert not (workdir / "hooked").exists()
    await chat.type("/trust a")
    assert "CLAUDE.md" not in await chat.type("/new --name b hello")
    await chat.idle("b")
    assert (workdir / "hooked").exists()
    assert str(workdir) in await chat.type("/rules")
    assert "no longer trusted" in await chat.type(f"/untrust {workdir}")
