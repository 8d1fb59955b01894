"""Two sessions in one repository: chat text to chat text, with the real git and the real CLI."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, hang, say
from claude_sessions.model import Role, Status
from tests.journeys.chat import Chat, chatting
from tests.worktrees.repositories import commit, git, repository

MOVE = "In a worktree instead"

# The SDK says aloud that in bypassPermissions nobody is asked; that is what these tests want.
pytestmark = pytest.mark.filterwarnings("ignore:can_use_tool will not be invoked")


@pytest.fixture
def web(workdir: Path) -> Path:
    return repository(workdir / "web", readme="hello\n", src__page="one\n")


async def test_a_second_session_in_a_repository_is_told_of_the_first(chat: Chat, web: Path) -> None:
    assert "also work" not in await chat.type("/new --name fix-css --dir web hello")
    reply = await chat.reply("/new --name other --dir web/src hello")
    assert "⚠️ fix-css also works in src (main)." in reply.text
    assert reply.data["alsoHere"] == ["fix-css"]
    assert MOVE in [action.label for action in reply.actions]


async def test_a_session_in_another_repository_or_in_none_is_not_told(
    chat: Chat, web: Path, workdir: Path
) -> None:
    repository(workdir / "api")
    (workdir / "plain").mkdir()
    await chat.type("/new --name a --dir web hello")
    for directory in ("api", "plain", "plain"):
        assert "also work" not in await chat.type(f"/new --dir {directory} hello")


async def test_one_that_has_ended_or_has_slept_for_a_day_is_not_mentioned(
    sandbox: Sandbox, workdir: Path, web: Path
) -> None:
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --name over --dir web hello")
        await chat.idle("over")
        await chat.type("/kill over")
        assert "also" not in await chat.type("/new --name sleeper --dir web hello")
        await chat.idle("sleeper")
        await chat.later(clock, "sleeper", lambda s: s.status is Status.ASLEEP)
        assert "sleeper also works" in await chat.type("/new --name b --dir web hello")
        await chat.idle("b")
        await chat.type("/kill b")
        clock.advance(timedelta(hours=24, seconds=1).total_seconds())
        assert "also" not in await chat.type("/new --name c --dir web hello")


async def test_a_session_with_a_worktree_really_runs_there_on_its_own_branch(
    script: Script, chat: Chat, web: Path
) -> None:
    script.on("where", bash("pwd > where"), say("Done."))
    reply = await chat.reply("/new --worktree --name apart --dir web --mode bypass where are you?")
    there = web / ".claude" / "worktrees" / "apart"
    assert "🌿 on claude/apart, from main" in reply.text
    assert reply.data["worktree"] == str(there)
    await chat.idle("apart")
    assert (there / "where").read_text().strip() == str(there)
    assert not (web / "where").exists()
    assert git(there, "branch", "--show-current") == "claude/apart"
    assert git(web, "status", "--porcelain") == ""
    assert not (web / ".gitignore").exists()


async def test_sessions_in_worktrees_of_their_own_are_in_nobody_s_way(
    chat: Chat, web: Path
) -> None:
    await chat.type("/new --name trunk --dir web hello")
    assert "also" not in await chat.type("/new --worktree --name apart --dir web hello")
    assert "trunk also works" in await chat.type("/new --name third --dir web hello")


async def test_a_subdirectory_corresponds_and_a_taken_name_gets_a_number(
    chat: Chat, web: Path
) -> None:
    await chat.type("/new --name page --dir web hello")
    git(web, "branch", "claude/page-2")
    reply = await chat.type("/new --worktree --name page --dir web/src hello")
    assert "The name page is taken; this one is page-2-2." in reply
    state = await chat.idle("page-2-2")
    assert state.spec.directory == str(web / ".claude/worktrees/page-2-2/src")


async def test_trust_in_the_repository_covers_its_worktrees(chat: Chat, web: Path) -> None:
    assert "are off" in await chat.type("/new --worktree --name before --dir web hello")
    await chat.type(f"/trust {web}")
    assert "are off" not in await chat.type("/new --worktree --name after --dir web hello")
    assert (await chat.state("after")).spec.trusted


async def test_a_launch_that_fails_leaves_no_worktree(chat: Chat, web: Path) -> None:
    assert "cannot be a name" in await chat.type("/new --worktree --name -x --dir web hello")
    assert "cannot be a name" in await chat.type("/new --worktree --name A/../b --dir web hello")
    prompter = chat.somebody(Role.PROMPTER)
    line = "/new --worktree --name loose --mode bypass --dir web hello"
    assert "only an admin" in await prompter.type(line)
    assert "No worktrees" in await chat.type("/worktrees")
    assert git(web, "branch", "--list", "claude/*") == ""
    assert git(web, "worktree", "list").count("\n") == 0


async def test_an_answered_session_moves_with_its_conversation(
    model: ScriptedModel, chat: Chat, web: Path
) -> None:
    await chat.type("/new --name first --dir web hello")
    reply = await chat.reply("/new --name second --dir web remember the milk")
    await chat.idle("second")
    move = next(action for action in reply.actions if action.label == MOVE)
    assert "second goes on in a worktree of its own · claude/second" in await chat.type(move.line)
    await chat.type("/say second what was it?")
    await model.asked("what was it")
    state = await chat.idle("second")
    assert state.spec.directory == str(web / ".claude/worktrees/second")
    assert "remember the milk" in str(model.about("what was it")[0].messages)
    assert model.prompts().count("remember the milk") == 1


async def test_a_session_that_moves_before_it_has_answered_is_asked_again(
    script: Script, model: ScriptedModel, chat: Chat, web: Path
) -> None:
    gate = Gate()
    script.on("where", gate, bash("pwd > where"), say("Done."))
    await chat.type("/new --name second --dir web --mode bypass where are you?")
    await gate.reached()
    await chat.type("/say second and then this")
    await chat.type("/worktrees move second")
    gate.open()
    await model.asked("and then this")
    await chat.idle("second")
    there = web / ".claude/worktrees/second"
    assert (there / "where").read_text().strip() == str(there)
    assert not (web / "where").exists()


async def test_a_session_that_moves_in_the_middle_of_a_turn_continues(
    script: Script, model: ScriptedModel, chat: Chat, web: Path
) -> None:
    gate = Gate()
    script.on("talk", say("Once upon a time."), bash("true"), gate, say("The end."))
    await chat.type("/new --name teller --dir web --mode bypass talk")
    await gate.reached()
    await chat.type("/worktrees move teller")
    await model.asked("Continue where you left off.")
    await chat.idle("teller")
    assert model.prompts().count("Continue where you left off.") == 1


async def test_a_session_moves_at_once_after_its_launch(
    model: ScriptedModel, chat: Chat, web: Path
) -> None:
    await chat.type("/new --name second --dir web hello there")
    assert "goes on" in await chat.type("/worktrees move second")
    state = await chat.until("second", lambda s: s.blocks == 1)
    assert state.spec.directory == str(web / ".claude/worktrees/second")


async def test_a_session_whose_work_would_be_left_behind_stays(
    script: Script, chat: Chat, web: Path
) -> None:
    script.on("make", bash("touch made"), say("Done."))
    await chat.type("/new --name maker --dir web --mode bypass make it")
    await chat.idle("maker")
    assert "maker stays: made" in await chat.type("/worktrees move maker")
    assert (await chat.state("maker")).status is Status.RUNNING
    assert (web / "made").exists()
    (web / "made").unlink()
    assert "goes on" in await chat.type("/worktrees move maker")


async def test_what_others_have_not_committed_stays_and_is_mentioned(chat: Chat, web: Path) -> None:
    (web / "theirs").write_text("x")
    await chat.type("/new --name reader --dir web hello")
    await chat.idle("reader")
    assert "1 uncommitted file of others stay" in await chat.type("/worktrees move reader")


async def test_worktrees_are_listed_merged_and_removed(
    script: Script, chat: Chat, web: Path
) -> None:
    work = "echo two > src/page && git commit -qam two && touch left"
    script.on("work", bash(work), say("Done."))
    await chat.type("/new --worktree --name fix --dir web --mode bypass work")
    await chat.idle("fix")
    reply = await chat.reply("/worktrees")
    assert "fix · claude/fix · 🟢 idle" in reply.text
    assert "1 commit ahead of main · 1 uncommitted file" in reply.text
    assert [action.label for action in reply.actions] == ["Merge fix", "Remove fix"]
    assert "1 uncommitted file: left" in await chat.type("/worktrees merge fix")
    (web / ".claude/worktrees/fix/left").unlink()
    assert "1 commit merged into main" in await chat.type("/worktrees merge fix")
    assert (web / "src/page").read_text() == "two\n"
    assert "/kill fix first" in await chat.type("/worktrees remove fix")
    await chat.type("/kill fix")
    assert "its branch too" in await chat.type("/worktrees remove fix")
    assert git(web, "branch", "--list", "claude/*") == ""
    assert "No worktrees" in await chat.type("/worktrees")
    types = [event.type for event in await chat.daemon.log.events(limit=1000)]
    assert [t for t in types if t.startswith("worktree.")] == [
        "worktree.created",
        "worktree.merged",
        "worktree.removed",
    ]


async def test_one_that_has_moved_is_in_nobody_s_way_and_need_not_move_again(
    sandbox: Sandbox, workdir: Path, web: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name mover --dir web hello")
        await chat.idle("mover")
        await chat.type("/worktrees move mover")
        assert "worktree of its own already" in await chat.type("/worktrees move mover")
    async with chatting(sandbox, workdir) as chat:  # also after a restart
        assert "also" not in await chat.type("/new --name other --dir web hello")
        assert "mover · claude/mover · 💤 asleep" in await chat.type("/worktrees")


async def test_a_worktree_is_found_by_its_session_s_new_name(chat: Chat, web: Path) -> None:
    await chat.type("/new --worktree --name old --dir web hello")
    await chat.idle("old")
    await chat.type("/rename old new")
    assert "already has all" in await chat.type("/worktrees merge new")
    assert "There is no worktree never" in await chat.type("/worktrees merge never")


async def test_merging_needs_an_approver_and_is_nothing_for_a_program(
    chat: Chat, web: Path
) -> None:
    await chat.type("/new --worktree --name fix --dir web hello")
    commit(web / ".claude/worktrees/fix", new="x\n")
    prompter = chat.somebody(Role.PROMPTER)
    assert "You may not merge worktrees" in await prompter.type("/worktrees merge fix")
    agent = chat.somebody(Role.APPROVER, "agent")
    agent.caller = replace(agent.caller, agent=True)
    assert "only an admin" in await agent.type("/worktrees merge fix")
    assert not (web / "new").exists()


async def test_a_crash_right_after_the_launch_leaves_the_session_known(
    chat: Chat, web: Path
) -> None:
    worktrees = chat.daemon.pool.worktrees
    made = await worktrees.make(str(web), "early", caller="me")
    assert "early · claude/early · no session" in await chat.type("/worktrees")
    worktrees.book.assign(made.worktree, "forgotten")
    assert "early · claude/early · no session" in await chat.type("/worktrees")
    worktrees.book.assign(made.worktree, None)
    await chat.type(f"/new --name early --dir {made.directory} hello")
    await chat.idle("early")
    assert "early · claude/early · 🟢 idle" in await chat.type("/worktrees")
    assert "/kill early first" in await chat.type("/worktrees remove early")


async def test_a_session_at_work_is_listed_as_such(script: Script, chat: Chat, web: Path) -> None:
    script.on("hang", hang())
    await chat.type("/new --worktree --name busy --dir web hang")
    await chat.working("busy")
    assert "busy · claude/busy · 🟢 working" in await chat.type("/worktrees")
