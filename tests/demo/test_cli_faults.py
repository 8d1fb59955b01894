"""Every kind of failure, through the real CLI, which is told to try twice."""

from pathlib import Path

from claude_agent_sdk import AssistantMessage

from claude_sessions.demo import (
    Ending,
    Gate,
    Script,
    ScriptedModel,
    drop,
    error,
    hang,
    malformed,
    overloaded,
    say,
    stall,
)
from tests.demo.talk import says, talking

FAILURES = [
    (400, "unknown"),
    (401, "authentication_failed"),
    (403, "authentication_failed"),
    (404, "model_not_found"),
    (429, "rate_limit"),
    (500, "server_error"),
    (529, "server_error"),
]


async def test_a_status_fails_the_turn_but_not_the_session(tmp_path: Path) -> None:
    script = Script()
    for status, _ in FAILURES:
        script.on(f"fail {status}", error(status))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        for status, cause in FAILURES:
            heard = await talk.turn(f"fail {status}")
            assert heard.result.is_error
            assert heard.result.api_error_status == status
            assert heard.of(AssistantMessage)[-1].error == cause
            seen = {request.fate.status for request in model.about(f"fail {status}")}
            assert seen == {status}
        assert (await talk.turn("hello")).result.result == "You said: hello"


async def test_a_request_too_large_is_compacted_and_tried_again(tmp_path: Path) -> None:
    script = Script().on("go", error(413, times=1), say("smaller"))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        await talk.turn("one")
        await talk.turn("two")
        heard = await talk.turn("go")
    assert heard.system("compact_boundary")
    assert heard.result.result == "smaller"


async def test_the_cli_tries_again_after_a_failure_that_passes(tmp_path: Path) -> None:
    script = Script().on("busy", error(529, times=1), say("at last"))
    script.on("event", overloaded(times=1), say("calm"))
    script.on("garbage", malformed(times=1), say("clean"))
    script.on("broken", say("half ", drop(times=1), "whole"))
    script.on("reset", say("half ", drop(reset=True, times=1), "again"))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        for prompt, answer in (
            ("busy", "at last"),
            ("event", "calm"),
            ("garbage", "clean"),
            ("broken", "half whole"),
            ("reset", "half again"),
        ):
            assert (await talk.turn(prompt)).result.result == answer
    assert [request.stream for request in model.about("garbage")] == [True, False]
    assert {request.fate.ending for request in model.requests[::2]} == {Ending.FAULTED}


async def test_what_came_whole_before_a_drop_is_kept(tmp_path: Path) -> None:
    gate = Gate()
    script = Script().on("go", say("half"), gate, drop(), say("the rest"))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        await talk.client.query("go")
        await talk.until(lambda message: isinstance(message, AssistantMessage))
        gate.open()
        assert (await talk.result()).texts == ["the rest"]
    assert [request.answers for request in model.requests] == [0, 1]


async def test_a_silent_model_can_be_interrupted(tmp_path: Path) -> None:
    script = Script().on("hang", hang()).on("stall", say("one ", stall()))
    async with (
        ScriptedModel(script) as model,
        talking(model, tmp_path, include_partial_messages=True) as talk,
    ):
        await talk.client.query("hang")
        hung = await model.asked("hang")
        await talk.client.interrupt()
        assert (await talk.result()).result.terminal_reason == "aborted_streaming"
        assert await hung.fate.ended() is Ending.DROPPED
        await talk.client.query("stall")
        await talk.until(says("one "))
        await talk.client.interrupt()
        assert (await talk.result()).texts == ["one "]
        assert (await talk.turn("hello")).result.result == "You said: hello"
    assert [request.fate.status for request in model.requests] == [None, 200, 200]
