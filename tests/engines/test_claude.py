"""The engine's contract, over the real CLI and a scripted model."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from claude_sessions import engines as g
from claude_sessions.demo import (
    Gate,
    Sandbox,
    Script,
    ScriptedModel,
    bash,
    edit,
    error,
    hang,
    parallel,
    plan,
    question,
    read,
    say,
    task,
    think,
    tool,
    usage,
    write,
)
from claude_sessions.engines.claude import ClaudeEngine
from claude_sessions.errors import EngineError
from claude_sessions.model import PermissionMode, SessionSpec
from tests.waiting import eventually

E = TypeVar("E", bound=g.EngineEvent)
SHELL_SETS = {"PWD", "OLDPWD", "SHLVL", "_"}


@dataclass
class Talk:
    """A conversation whose asks are answered by the test."""

    conversation: g.Conversation
    asks: asyncio.Queue[tuple[g.Ask, asyncio.Future[g.Answer]]]
    seen: list[g.EngineEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._events = aiter(self.conversation)

    async def say(self, text: str, *, steer: bool = False) -> str:
        message = g.Message(id=str(uuid.uuid4()), text=text, steer=steer)
        await self.conversation.send(message)
        return message.id

    async def until(self, kind: type[E]) -> E:
        async with asyncio.timeout(20):
            while True:
                event = await anext(self._events)
                self.seen.append(event)
                if isinstance(event, kind):
                    return event

    async def turn(self, text: str) -> g.TurnOver:
        await self.say(text)
        return await self.until(g.TurnOver)

    async def asked(self) -> tuple[g.Ask, asyncio.Future[g.Answer]]:
        async with asyncio.timeout(20):
            return await self.asks.get()

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.seen if isinstance(event, kind)]

    @property
    def texts(self) -> list[str]:
        return [event.text for event in self.of(g.Text) if not event.thinking]


@asynccontextmanager
async def talk(sandbox: Sandbox, spec: SessionSpec, **more: object) -> AsyncIterator[Talk]:
    engine = ClaudeEngine(env=sandbox.env, setting_sources=["user", "project", "local"])
    asks: asyncio.Queue[tuple[g.Ask, asyncio.Future[g.Answer]]] = asyncio.Queue()

    async def ask(asked: g.Ask) -> g.Answer:
        answer: asyncio.Future[g.Answer] = asyncio.get_running_loop().create_future()
        asks.put_nowait((asked, answer))
        return await answer

    options = {"claude_id": str(uuid.uuid4()), **more}
    conversation = await engine.open(spec, ask=ask, **options)  # type: ignore[arg-type]
    try:
        yield Talk(conversation, asks)
    finally:
        pid = conversation.pid
        await conversation.close()
        assert pid is not None
        assert not psutil.pid_exists(pid)


@pytest.fixture
def spec(workdir: Path) -> SessionSpec:
    return SessionSpec(directory=str(workdir))


async def test_words_stream_and_the_whole_block_follows(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("hello", think("Hm."), say("Good day to you.", chunk=4))
    async with talk(sandbox, spec) as t:
        over = await t.turn("hello")
        deltas = [d for d in t.of(g.TextDelta) if not d.thinking]
        whole = [b for b in t.of(g.Text) if not b.thinking]
        assert "".join(d.text for d in deltas) == "Good day to you." == whole[0].text
        assert {d.block for d in deltas} == {whole[0].block}
        assert [d.offset for d in deltas] == [0, 4, 8, 12]
        assert [b.text for b in t.of(g.Text) if b.thinking] == ["Hm."]
        assert over.reason == "completed"
        assert not over.is_error
        assert over.cost_usd > 0


async def test_a_message_is_reported_as_taken_by_its_own_id(
    sandbox: Sandbox, spec: SessionSpec
) -> None:
    async with talk(sandbox, spec) as t:
        sent = await t.say("hello")
        assert (await t.until(g.MessageTaken)).id == sent


async def test_an_allowed_tool_runs_and_the_answer_is_known_to_be_given(
    script: Script, sandbox: Sandbox, spec: SessionSpec, workdir: Path
) -> None:
    script.on("make it", bash("touch made"), say("Made."))
    async with talk(sandbox, spec) as t:
        await t.say("make it")
        ask, answer = await t.asked()
        assert (ask.tool_name, ask.input["command"]) == ("Bash", "touch made")
        answer.set_result(g.Answer(allow=True))
        given = await t.until(g.AnswerGiven)
        assert given.tool_use_id == ask.tool_use_id
        await t.until(g.TurnOver)
        assert (workdir / "made").exists()
        assert t.of(g.ToolCall)[0].id == t.of(g.ToolResult)[0].id == ask.tool_use_id


async def test_a_denied_tool_does_not_run_and_claude_hears_why(
    script: Script, sandbox: Sandbox, spec: SessionSpec, workdir: Path
) -> None:
    script.on("make it", bash("touch made"), say("I see."))
    async with talk(sandbox, spec) as t:
        await t.say("make it")
        _, answer = await t.asked()
        answer.set_result(g.Answer(allow=False, message="Not on a Friday."))
        await t.until(g.TurnOver)
        assert not (workdir / "made").exists()
        assert "Not on a Friday." in t.of(g.ToolResult)[0].content


async def test_an_edited_input_is_what_runs(
    script: Script, sandbox: Sandbox, spec: SessionSpec, workdir: Path
) -> None:
    script.on("make it", bash("touch made"), say("Done."))
    async with talk(sandbox, spec) as t:
        await t.say("make it")
        ask, answer = await t.asked()
        answer.set_result(g.Answer(allow=True, input={**ask.input, "command": "touch other"}))
        await t.until(g.TurnOver)
        assert not (workdir / "made").exists()
        assert (workdir / "other").exists()


async def test_a_question_is_answered(script: Script, sandbox: Sandbox, spec: SessionSpec) -> None:
    script.on("ask me", question("Which colour?", ["Red", "Blue"]), say("Thanks."))
    async with talk(sandbox, spec) as t:
        await t.say("ask me")
        ask, answer = await t.asked()
        assert ask.tool_name == "AskUserQuestion"
        chosen = {**ask.input, "answers": {"Which colour?": "Blue"}}
        answer.set_result(g.Answer(allow=True, input=chosen))
        await t.until(g.TurnOver)
        assert "Blue" in t.of(g.ToolResult)[0].content


async def test_a_plan_may_be_approved_into_accept_edits(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("plan it", plan("1. Do it."), say("Going."))
    spec = SessionSpec(directory=str(workdir), mode=PermissionMode.PLAN)
    async with talk(sandbox, spec) as t:
        await t.say("plan it")
        ask, answer = await t.asked()
        assert ask.tool_name == "ExitPlanMode"
        assert "Do it." in ask.input["plan"]
        answer.set_result(g.Answer(allow=True, set_mode=PermissionMode.ACCEPT_EDITS))
        await t.until(g.TurnOver)
        assert t.of(g.ModeSet)[-1].mode is PermissionMode.ACCEPT_EDITS


async def test_parallel_reads_are_asked_at_the_same_time(
    script: Script, sandbox: Sandbox, spec: SessionSpec, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    script.on("read", parallel(read(str(tmp_path / "a")), read(str(tmp_path / "b"))), say("Both."))
    async with talk(sandbox, spec) as t:
        await t.say("read")
        first, second = await t.asked(), await t.asked()
        for _, answer in (first, second):
            answer.set_result(g.Answer(allow=True))
        await t.until(g.TurnOver)
        assert t.texts == ["Both."]


async def test_interrupting_the_words_ends_the_turn_not_the_conversation(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    gate = Gate()
    script.on("talk", say("Once upon ", gate, "a time."))
    async with talk(sandbox, spec) as t:
        await t.say("talk")
        await t.until(g.TextDelta)
        await t.conversation.interrupt()
        assert (await t.until(g.TurnOver)).interrupted
        assert not (await t.turn("go on")).is_error


async def test_interrupting_a_pending_ask_withdraws_it(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("make it", bash("touch made"), say("Made."))
    async with talk(sandbox, spec) as t:
        await t.say("make it")
        ask, answer = await t.asked()
        await t.conversation.interrupt()
        assert (await t.until(g.AskWithdrawn)).tool_use_id == ask.tool_use_id
        assert (await t.until(g.TurnOver)).interrupted
        assert answer.cancelled()


async def test_a_steering_message_joins_the_running_turn(
    script: Script, model: ScriptedModel, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("work", bash("touch made"), say("Done."))
    async with talk(sandbox, spec) as t:
        await t.say("work")
        _, answer = await t.asked()
        steering = await t.say("and be quick", steer=True)
        answer.set_result(g.Answer(allow=True))
        await t.until(g.TurnOver)
        assert steering in [taken.id for taken in t.of(g.MessageTaken)]
        assert [r.steered for r in model.about("quick")] == [("and be quick",)]


async def test_an_api_error_is_an_error_of_the_turn(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("fail", error(400, "no such thing"))
    async with talk(sandbox, spec) as t:
        over = await t.turn("fail")
        assert over.is_error
        assert over.reason == "api_error"
        assert "no such thing" in (over.error or "")
        assert not (await t.turn("again")).is_error


async def test_an_expired_login_is_recognised(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("fail", error(401, "expired"))
    async with talk(sandbox, spec) as t:
        await t.turn("fail")
        assert t.of(g.LoginNeeded)


async def test_context_and_cost_come_from_the_last_request(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("cost", usage(input=1000, cache_read=500, output=100), say("Dear."))
    async with talk(sandbox, spec) as t:
        over = await t.turn("cost")
        assert over.context_tokens == 1500
        assert over.context_window >= 200_000
        again = await t.turn("more")
        assert again.cost_usd < over.cost_usd  # per turn, not the running total


async def test_a_budget_ends_the_turn_with_its_own_reason(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("spend", usage(output=100_000), bash("ls"), say("More."))
    async with talk(sandbox, spec, budget_usd=0.01) as t:
        assert (await t.turn("spend")).reason == "budget_exhausted"


async def test_a_slash_command_is_answered_by_the_cli(sandbox: Sandbox, spec: SessionSpec) -> None:
    async with talk(sandbox, spec) as t:
        assert "context" in t.conversation.commands
        over = await t.turn("/context")
        assert over.local
        assert "Context" in over.text


async def test_a_background_task_is_seen_stopped_and_its_turn_is_injected(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    loop = "while true; do python3 -c 'import time; time.sleep(1)'; done"
    script.on("serve", bash(loop, run_in_background=True), say("It runs."))
    async with talk(sandbox, spec) as t:
        await t.say("serve")
        _, answer = await t.asked()
        answer.set_result(g.Answer(allow=True))
        await t.until(g.TurnOver)
        began = t.of(g.TaskBegan)[0]
        await t.conversation.stop_task(began.id)
        assert (await t.until(g.TaskOver)).id == began.id


async def test_a_subagent_s_words_carry_their_parent(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("look around", say("I looked."))
    script.on("delegate", task("look around"), say("Delegated."))
    async with talk(sandbox, spec) as t:
        await t.turn("delegate")
        assert t.texts[-1] == "Delegated."
        assert t.of(g.ToolCall)[0].name in ("Task", "Agent")


async def test_kill_9_of_the_cli_is_an_engine_error(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("hang", hang())
    async with talk(sandbox, spec) as t:
        await t.say("hang")
        await t.until(g.Asking)
        assert t.conversation.pid is not None
        os.kill(t.conversation.pid, signal.SIGKILL)
        with pytest.raises(EngineError, match="signal 9"):
            await t.until(g.TurnOver)


async def test_closing_mid_tool_leaves_no_process_behind(
    script: Script, sandbox: Sandbox, spec: SessionSpec, workdir: Path
) -> None:
    loop = "echo $$ > pid; while true; do python3 -c 'import time; time.sleep(1)'; done"
    script.on("work", bash(loop), say("Never."))
    async with talk(sandbox, spec) as t:
        await t.say("work")
        _, answer = await t.asked()
        answer.set_result(g.Answer(allow=True))
        pid_file = workdir / "pid"
        await eventually(lambda: pid_file.exists() and pid_file.read_text().strip())
        tool_process = int(pid_file.read_text())
    assert not psutil.pid_exists(tool_process)


async def test_cancelling_a_close_twice_leaks_nothing(
    script: Script, sandbox: Sandbox, spec: SessionSpec
) -> None:
    script.on("hang", hang())
    async with talk(sandbox, spec) as t:
        await t.say("hang")
        await t.until(g.Asking)
        for _ in range(2):
            closing = asyncio.create_task(t.conversation.close())
            await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait([closing])
    # the context manager awaits the close and checks that the process is gone


async def test_a_conversation_is_resumed_and_forked(
    script: Script, model: ScriptedModel, sandbox: Sandbox, spec: SessionSpec
) -> None:
    async with talk(sandbox, spec) as t:
        await t.turn("remember me")
        claude_id = t.of(g.TurnBegan)[0].claude_id
    async with talk(sandbox, spec, resume=claude_id) as t:
        await t.turn("what was it")
        assert t.of(g.TurnBegan)[0].claude_id == claude_id
    async with talk(sandbox, spec, resume=claude_id, fork=True) as t:
        await t.turn("and in another world")
        assert t.of(g.TurnBegan)[0].claude_id != claude_id
    assert "remember me" in str(model.about("another world")[0].messages)


async def test_the_cli_gets_nothing_of_the_daemons_environment(
    script: Script, sandbox: Sandbox, spec: SessionSpec, workdir: Path
) -> None:
    own = set(os.environ) - set(sandbox.env)
    script.on("env", bash("env > seen"), say("Seen."))
    async with talk(sandbox, spec) as t:
        await t.say("env")
        _, answer = await t.asked()
        answer.set_result(g.Answer(allow=True))
        await t.until(g.TurnOver)
    seen = (workdir / "seen").read_text()
    assert "HOME=" in seen
    assert own
    assert not own & {line.split("=")[0] for line in seen.splitlines()} - SHELL_SETS


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (None, "cannot be run"),
        ("#!/bin/sh\nexit 0\n", "could not be started"),
        ("#!/bin/sh\necho 'it is broken' >&2\nexit 3\n", "it is broken"),
    ],
)
async def test_a_cli_that_is_missing_or_dies_is_explained(
    program: str | None, said: str, sandbox: Sandbox, spec: SessionSpec, tmp_path: Path
) -> None:
    path = tmp_path / "fake-claude"
    if program is not None:
        path.write_text(program)
        path.chmod(0o755)
    engine = ClaudeEngine(env=sandbox.env, setting_sources=[], cli_path=str(path))

    async def never(_: g.Ask) -> g.Answer:
        raise AssertionError

    with pytest.raises(EngineError, match=said):
        await engine.open(spec, ask=never, claude_id=str(uuid.uuid4()))


async def test_resuming_an_unknown_conversation_is_explained(
    sandbox: Sandbox, spec: SessionSpec
) -> None:
    with pytest.raises(EngineError, match="No conversation found"):
        async with talk(sandbox, spec, resume=str(uuid.uuid4())):
            pass


async def test_a_big_answer_passes(script: Script, sandbox: Sandbox, spec: SessionSpec) -> None:
    script.on("big", tool("Read", file_path="/nowhere/at/all"), say("x" * 2_000_000, chunk=500_000))
    async with talk(sandbox, spec) as t:
        await t.say("big")
        _, answer = await t.asked()
        answer.set_result(g.Answer(allow=False, message="No."))
        await t.until(g.TurnOver)
        assert len(t.texts[-1]) == 2_000_000


async def test_files_can_be_put_back_to_before_a_message_also_after_a_resume(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("make", write("a.txt", "1\n"), bash("touch b.txt"), say("Made."))
    script.on("change", read("a.txt"), edit("a.txt", "1", "2"), say("Changed."))
    spec = SessionSpec(directory=str(workdir), mode=PermissionMode.ACCEPT_EDITS)
    claude_id, file = str(uuid.uuid4()), workdir / "a.txt"
    async with talk(sandbox, spec, claude_id=claude_id) as t:
        made = await t.say("make")
        await t.until(g.TurnOver)
        changed = await t.say("change")
        await t.until(g.TurnOver)
        assert [r.edit.file for r in t.of(g.ToolResult) if r.edit] == ["a.txt", "a.txt"]
        assert await t.conversation.rewindable(changed) == (str(file),)
        assert file.read_text() == "2\n"
        await t.conversation.rewind(changed)
        assert file.read_text() == "1\n"
        assert await t.conversation.rewindable(changed) == ()
    async with talk(sandbox, spec, resume=claude_id) as t:
        await t.conversation.rewind(made)
        assert not file.exists()
        assert (workdir / "b.txt").exists()
        with pytest.raises(EngineError, match="No file checkpoint found"):
            await t.conversation.rewindable(str(uuid.uuid4()))
