"""One script and several sessions, turns and processes of the real CLI."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from claude_agent_sdk import AssistantMessage

from claude_sessions.demo import Gate, Script, ScriptedModel, bash, say
from tests.demo.talk import says, talking


async def test_two_sessions_are_in_the_same_entry_at_once(tmp_path: Path) -> None:
    gate = Gate()
    script = Script().on("go", bash("touch mine"), say("one ", gate, "two"))
    async with (
        ScriptedModel(script) as model,
        talking(model, tmp_path) as left,
        talking(model, tmp_path) as right,
    ):
        turns = [asyncio.create_task(talk.turn("go"), name="test turn") for talk in (left, right)]
        await gate.reached(count=2)
        gate.open()
        for heard in await asyncio.gather(*turns):
            assert heard.result.result == "one two"
    assert len({request.session_id for request in model.requests}) == 2


async def test_a_resumed_and_a_forked_session_go_on_with_the_script(tmp_path: Path) -> None:
    script = Script().on("first", bash("touch a"), say("one"))
    script.on("second", bash("touch b"), say(lambda request: f"{len(request.tool_results)} tool"))
    async with ScriptedModel(script) as model:
        async with talking(model, tmp_path) as talk:
            session = (await talk.turn("first")).result.session_id
        async with talking(model, tmp_path, resume=session) as talk:
            resumed = (await talk.turn("second")).result
        async with talking(model, tmp_path, resume=session, fork_session=True) as talk:
            forked = (await talk.turn("second")).result
    assert (resumed.session_id, resumed.result) == (session, "1 tool")
    assert forked.session_id != session
    assert forked.result == "1 tool"
    assert "first" in str(model.requests[-1].messages)
    assert model.prompts() == ["first", "second", "second"]


async def test_a_message_sent_while_a_tool_runs_is_steered_into_the_turn(tmp_path: Path) -> None:
    script = Script().on("work", bash("read line < pipe; touch done"), say("done"))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        with pipe(tmp_path / "work" / "pipe") as release:
            await talk.client.query("work")
            await talk.until(lambda message: isinstance(message, AssistantMessage))
            await talk.client.query("also this")
            # Answered in order, so the message before it has been taken in.
            await talk.client.get_context_usage()
            release()
            heard = await talk.result()
    steered = await model.asked("also this")
    assert heard.result.result == "done"
    assert (steered.prompt, steered.answers) == ("work", 1)
    assert steered.steered == ("also this",)
    assert steered.last_user_text == "also this"
    assert model.prompts() == ["work"]


@contextmanager
def pipe(path: Path) -> Iterator[Callable[[], object]]:
    """A pipe whose reader gets a line when the yielded function is called."""
    os.mkfifo(path)
    with path.open("r+b", buffering=0) as end:
        yield lambda: end.write(b"go\n")


async def test_a_message_sent_while_the_model_speaks_is_the_next_prompt(tmp_path: Path) -> None:
    gate = Gate()
    script = Script().on("talk", say("one ", gate, "two"))
    async with (
        ScriptedModel(script) as model,
        talking(model, tmp_path, include_partial_messages=True) as talk,
    ):
        await talk.client.query("talk")
        await talk.until(says("one "))
        await talk.client.query("queued")
        gate.open()
        assert (await talk.result()).result.result == "one two"
        assert (await talk.result()).result.result == "You said: queued"
    assert model.prompts() == ["talk", "queued"]


async def test_an_interrupt_is_seen_by_the_model_and_the_next_prompt_is_clean(
    tmp_path: Path,
) -> None:
    gate = Gate()
    script = Script().on("talk", say("one ", gate, "two"))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        await talk.client.query("talk")
        await gate.reached()
        await talk.client.interrupt()
        assert (await talk.result()).result.terminal_reason == "aborted_streaming"
        assert (await talk.turn("next")).result.result == "You said: next"
    assert model.prompts() == ["talk", "next"]
