"""Taking a conversation up again: by whatever name, whole or branched, and never twice at once."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path

import psutil
import pytest

from claude_sessions.channel import Kind, MemoryChannel
from claude_sessions.commands import Resume
from claude_sessions.commands.chat import parse
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, say
from claude_sessions.demo.sandbox import BUNDLED_CLI
from claude_sessions.engines import Answer, Ask, Message, TurnOver
from claude_sessions.engines.claude import ClaudeConversation, ClaudeEngine
from claude_sessions.errors import Conflict
from claude_sessions.model import Reason, Role, SessionSpec, Status
from claude_sessions.people import Caller
from tests.journeys.chat import Chat, chatting


async def asleep(chat: Chat, name: str) -> None:
    await chat.idle(name)
    await chat.type(f"/sleep {name}")


def transcript(sandbox: Sandbox, claude_id: str | None) -> Path:
    (file,) = (sandbox.home / ".claude" / "projects").glob(f"*/{claude_id}.jsonl")
    return file


async def test_a_part_of_a_name_is_enough_if_only_one_has_it(chat: Chat) -> None:
    for name in ("fix-auth", "fix-css"):
        await chat.type(f"/new --name {name} hello")
        await asleep(chat, name)
    assert "fix-css goes on" in await chat.type("/resume css and now?")
    await chat.until("fix-css", lambda s: s.blocks == 2)
    with pytest.raises(Conflict, match="“fix” could be fix-css, fix-auth") as several:
        await chat.reply("/resume fix tell me")
    actions = several.value.actions
    assert [action.label for action in actions] == ["fix-css", "fix-auth"]
    wanted = Resume(session=(await chat.state("fix-auth")).id, prompt="tell me")
    assert parse(actions[1].line) == wanted


async def test_any_claude_id_it_ever_had_finds_it(chat: Chat) -> None:
    await chat.type("/new --name a hello")
    first = (await chat.idle("a")).claude_id
    await chat.type("/say a /clear")
    state = await chat.until("a", lambda s: s.turn is None and s.turns == 2)
    await chat.type("/say a again")
    state = await chat.until("a", lambda s: s.blocks == 2 and s.turn is None)
    assert state.claude_id != first
    for claude_id in state.claude_ids:
        assert (await chat.state(claude_id)).id == state.id


async def test_a_fork_may_leave_out_what_came_later(model: ScriptedModel, chat: Chat) -> None:
    await chat.type("/new --name a first")
    for word in ("second", "third"):
        await chat.idle("a")
        await chat.type(f"/say a {word}")
    await chat.until("a", lambda s: s.blocks == 3 and s.turn is None)
    turns = await chat.reply("/turns a")
    assert turns.text.splitlines() == ["a", "1. first", "2. second", "3. third"]
    await chat.type(turns.actions[1].line + "what else")
    await chat.idle("a-fork")
    heard = str(model.about("what else")[0].messages)
    assert "second" in heard
    assert "third" not in heard
    assert "has no turn 9" in await chat.type("/resume --fork --turn 9 a")


async def test_a_resume_restores_what_the_session_was_given(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        given = "--model sonnet --mode plan --budget 3 --system Be-brief --allow Read"
        await chat.type(f"/new --name a {given} hello")
        before = await chat.idle("a")
        await chat.type("/kill a")
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/resume a go on")
        after = await chat.until("a", lambda s: s.blocks == 2 and s.turn is None)
        assert after.spec == before.spec
        assert after.origin == before.origin
        assert 2.9 < (after.budget_left or 0) < 3
        (asked,) = model.about("go on")
        assert "Be-brief" in asked.system
        assert "sonnet" in asked.model


async def test_a_conversation_that_is_open_elsewhere_is_not_driven_by_a_second_process(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await asleep(chat, "a")
        claude_id = (await chat.state("a")).claude_id
        other = await opened(sandbox, workdir, claude_id)
        try:
            await chat.type("/say a are you there?")
            told = await chat.shows(Kind.NOTICE, "open in another program")
            assert f"process {other.pid} in {workdir}" in told.text
            state = await chat.until("a", lambda s: s.status is Status.ASLEEP)
            assert (state.reason, len(state.queued)) == (Reason.ELSEWHERE, 1)
        finally:
            await other.close()
        await chat.type(told.actions[0].line)
        await chat.until("a", lambda s: s.blocks == 2)
        assert model.prompts() == ["hello", "are you there?"]


async def test_whoever_wanted_it_awake_is_told_where_it_lives_wherever_they_sit(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await asleep(chat, "a")
        channel = MemoryChannel("memory|guest")
        caller = Caller(name="guest", role=Role.PROMPTER, door="other", channel=channel.id)
        chat.daemon.router.attach(channel, caller=str(caller))
        guest = Chat(chat.daemon, caller, channel)
        other = await opened(sandbox, workdir, (await chat.state("a")).claude_id)
        try:
            await guest.type("/say a are you there?")
            await guest.shows(Kind.NOTICE, "open in another program")
            await chat.shows(Kind.NOTICE, "open in another program")
        finally:
            await other.close()


async def opened(sandbox: Sandbox, workdir: Path, claude_id: str | None) -> ClaudeConversation:
    async def never(_: Ask) -> Answer:
        raise AssertionError

    engine = ClaudeEngine(env=sandbox.env, setting_sources=("user",))
    spec = SessionSpec(directory=str(workdir))
    return await engine.open(spec, ask=never, claude_id=str(uuid.uuid4()), resume=claude_id)


async def test_turns_made_in_a_terminal_meanwhile_show_up_in_the_catch_up(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --fg --name a hello")
        await asleep(chat, "a")
        await chat.type("/bg a")
        other = await opened(sandbox, workdir, (await chat.state("a")).claude_id)
        await other.send(Message(id=str(uuid.uuid4()), text="from the terminal"))
        async for event in other:
            if isinstance(event, TurnOver):
                break
        await other.close()
        shown = await chat.type("/fg a")
        assert "📋 Catchup (2 missed outputs):" in shown
        assert "💻 from the terminal\n\nYou said: from the terminal" in shown
        assert "missed" not in await chat.type("/fg a")  # it is in the log now, once
        assert "from the terminal" in await chat.type("/output a")


async def test_a_file_that_is_gone_is_said_and_the_session_keeps_its_name(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await asleep(chat, "a")
        transcript(sandbox, (await chat.state("a")).claude_id).unlink()
        await chat.type("/say a still there?")
        state = await chat.ended("a")
        assert (state.status, state.reason) == (Status.FAILED, Reason.START)
        assert f"{state.claude_id} is missing" in state.message
        assert "You said: hello" in await chat.type("/output a --full")
        assert model.prompts() == ["hello"]
        assert [message.text for message in state.queued] == ["still there?"]


async def test_a_damaged_file_is_left_as_it_is_and_a_branch_goes_on_from_what_is_left(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a remember the milk")
        await asleep(chat, "a")
        file = transcript(sandbox, (await chat.state("a")).claude_id)
        good = file.read_bytes()
        for damaged in (good[:-40], good + b'{"type": "us\n', good.replace(b'"user"', b'"user', 1)):
            file.write_bytes(damaged)
            await chat.type("/resume a what was it?")
            state = await chat.ended("a")
            assert f"{state.claude_id} " in state.message
            assert "/resume --fork a goes on from what is left" in state.message
            assert file.read_bytes() == damaged
        assert model.prompts() == ["remember the milk"]
        file.write_bytes(damaged := good + b'{"type": "us\n')
        await chat.type("/resume --fork a what was it?")
        await chat.idle("a-fork")
        assert "remember the milk" in str(model.about("what was it?")[0].messages)
        assert file.read_bytes() == damaged


async def test_a_file_that_has_become_shorter_is_noticed(sandbox: Sandbox, workdir: Path) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await asleep(chat, "a")
        file = transcript(sandbox, (await chat.state("a")).claude_id)
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[:-3]))
        await chat.type("/say a go on")
        assert "is shorter than it was" in (await chat.ended("a")).message


async def test_a_success_with_nothing_in_it_is_a_failure_and_the_original_is_kept(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await asleep(chat, "a")
        before = await chat.state("a")
        settings = sandbox.home / ".claude" / "settings.json"
        refuse = {"type": "command", "command": "echo not today >&2; exit 2"}
        settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [refuse]}]}}))
        await chat.type("/say a go on")
        told = await chat.shows(Kind.WAITING, "Claude came back with nothing")
        assert "not today" in told.text
        after = await chat.until("a", lambda s: s.turn is None and s.turns == 2)
        assert after.claude_ids == before.claude_ids
        settings.unlink()
        await chat.type("/sleep a")
        await chat.type("/say a and now?")
        await chat.until("a", lambda s: s.blocks == 2)
        assert "hello" in str(model.about("and now?")[0].messages)


async def test_a_bare_uuid_is_tried_as_it_is(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    """A conversation that somebody began in a plain terminal."""
    process = await asyncio.create_subprocess_exec(
        *(str(BUNDLED_CLI), "-p", "--output-format", "json", "remember the milk"),
        env=sandbox.env,
        cwd=workdir,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    claude_id = json.loads(said)["session_id"]
    async with chatting(sandbox, workdir) as chat:
        await chat.type(f"/resume {claude_id} what was it?")
        await model.asked("what was it?")
        assert "remember the milk" in str(model.about("what was it?")[0].messages)
        unknown = str(uuid.uuid4())
        assert "No conversation fits" in await chat.type(f"/resume {unknown} hello")
        shown = await chat.type("/output remember-milk")
        assert "💻 remember the milk\n\nYou said: remember the milk" in shown


async def test_what_a_claude_that_died_never_wrote_down_is_asked_again_when_it_is_resumed(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("talk", say("One two ", gate, "three."))
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a talk")
        await gate.reached()
        state = await chat.until("a", lambda s: bool(s.taken))
        session = chat.daemon.manager._live.get(state.id)
        assert session is not None
        claude = psutil.Process(session.pid or 0)
        claude.suspend()
        for file in (sandbox.home / ".claude" / "projects").glob(f"*/{state.claude_id}.jsonl"):
            file.unlink()
        claude.kill()
        state = await chat.ended("a")
        assert [message.text for message in state.queued] == ["talk"]
        gate.open()
        assert "talk" in await chat.type("/resume a")
        await chat.until("a", lambda s: s.turns == 2 and s.turn is None and not s.queue)
        assert model.prompts() == ["talk", "talk"]
