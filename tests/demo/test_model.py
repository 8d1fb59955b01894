import asyncio
import time

import pytest

from claude_sessions.demo import (
    Ending,
    Gate,
    Request,
    Script,
    ScriptedModel,
    drop,
    error,
    hang,
    headers,
    malformed,
    overloaded,
    say,
    stall,
)
from tests.demo.plainly import connected, post, read_head, read_plain, read_stream


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with ScriptedModel(Script()) as model, connected(model.url) as (reader, writer):
        for prompt in ("one", "two"):
            writer.write(post(prompt))
            assert "200 ok" in await read_head(reader)
            assert "message_stop" in await read_stream(reader)
    assert model.prompts() == ["one", "two"]


async def test_without_streaming_the_message_comes_whole() -> None:
    async with ScriptedModel(Script()) as model, connected(model.url) as (reader, writer):
        writer.write(post("hello there", stream=False))
        status, message = await read_plain(reader)
    assert status == 200
    assert message["content"] == [{"type": "text", "text": "You said: hello there"}]
    assert message["stop_reason"] == "end_turn"


async def test_tokens_are_counted_and_all_else_is_unknown() -> None:
    async with ScriptedModel(Script()) as model, connected(model.url) as (reader, writer):
        writer.write(post("hello", path="/v1/messages/count_tokens"))
        status, counted = await read_plain(reader)
        assert status == 200
        assert counted.keys() == {"input_tokens"}
        for method, path in (("GET", "/v1/messages"), ("POST", "/v1/other")):
            writer.write(post("hello", path=path, method=method))
            assert (await read_plain(reader))[0] == 404
    assert model.count == 0


async def test_a_failure_has_its_status_type_and_headers() -> None:
    script = Script().on("go", error(429, "slow down", headers={"retry-after": "7"}))
    async with ScriptedModel(script) as model, connected(model.url) as (reader, writer):
        writer.write(post("go"))
        head = await read_head(reader)
        assert "429 too many requests" in head
        assert "retry-after: 7" in head
        assert b"rate_limit_error" in await reader.readexactly(60)
    assert model.requests[0].fate.status == 429
    assert model.requests[0].fate.ending is Ending.FAULTED


async def test_an_answer_may_carry_headers() -> None:
    script = Script().on("go", headers({"anthropic-ratelimit-unified-status": "allowed"}), say("a"))
    async with ScriptedModel(script) as model, connected(model.url) as (reader, writer):
        writer.write(post("go"))
        assert "anthropic-ratelimit-unified-status: allowed" in await read_head(reader)


async def test_faults_strike_as_often_as_they_should() -> None:
    script = Script().on("go", error(529, times=2), say("at last"))
    async with ScriptedModel(script) as model, connected(model.url) as (reader, writer):
        for expected in (529, 529, 200):
            writer.write(post("go", stream=False))
            assert (await read_plain(reader))[0] == expected


async def test_a_drop_ends_the_connection_after_what_was_said() -> None:
    script = Script().on("fin", say("half ", drop())).on("rst", say("half ", drop(reset=True)))
    async with ScriptedModel(script) as model:
        async with connected(model.url) as (reader, writer):
            writer.write(post("fin"))
            assert (await reader.read()).endswith(b'"half "}}\n\n\r\n')
        async with connected(model.url) as (reader, writer):
            writer.write(post("rst"))
            with pytest.raises(ConnectionResetError):
                await reader.read()


async def test_streams_may_break_in_ways_that_a_reader_must_survive() -> None:
    script = Script().on("bad", say("a ", malformed())).on("busy", say("a ", overloaded()))
    async with ScriptedModel(script) as model, connected(model.url) as (reader, writer):
        writer.write(post("bad"))
        await read_head(reader)
        assert (await read_stream(reader)).endswith('data: {"type": "content_blo\n\n')
        writer.write(post("busy"))
        await read_head(reader)
        assert "event: error" in await read_stream(reader)
        writer.write(post("busy", stream=False))
        assert (await read_plain(reader))[0] == 529


async def test_a_gate_lets_nothing_past_until_it_is_opened() -> None:
    gate = Gate()
    script = Script().on("go", say("one ", gate, "two"))
    async with ScriptedModel(script) as model, connected(model.url) as (reader, writer):
        writer.write(post("go"))
        await gate.reached()
        assert b"one " in await reader.readuntil(b"one ")
        assert model.requests[0].fate.ending is Ending.OPEN
        gate.open()
        assert b"two" in await reader.readuntil(b"two")
        assert await model.requests[0].fate.ended() is Ending.FINISHED


async def test_a_first_gate_holds_back_even_the_status() -> None:
    gate = Gate()
    script = Script().on("go", gate, say("a"))
    async with ScriptedModel(script) as model, connected(model.url) as (_, writer):
        writer.write(post("go"))
        await gate.reached()
        assert model.requests[0].fate.status is None


async def test_a_client_that_leaves_is_noticed() -> None:
    async with ScriptedModel(Script().on("go", say("one ", stall()))) as model:
        async with connected(model.url) as (reader, writer):
            writer.write(post("go"))
            await reader.readuntil(b"one ")
        assert await (await model.asked("go")).fate.ended() is Ending.DROPPED


async def test_asking_is_waited_for_and_counted() -> None:
    async with ScriptedModel(Script()) as model, connected(model.url) as (_, writer):
        second = asyncio.create_task(model.asked("same", count=2), name="test waits")
        writer.write(post("same one") + post("other") + post("same two"))
        assert (await second).prompt == "same two"
        with pytest.raises(TimeoutError):
            await model.asked("never", timeout=0.01)
    assert model.count == 3


async def test_it_shuts_down_at_once_with_open_connections() -> None:
    script = Script().on("hang", hang()).on("stall", say("a ", stall()))
    script.on("gate", Gate(), say("a")).on("slow", say("a b c d", pace=0.1))
    async with ScriptedModel(script) as model:
        links = [await asyncio.open_connection("127.0.0.1", model.port) for _ in range(5)]
        for prompt, (_, writer) in zip(("hang", "stall", "gate", "slow"), links, strict=False):
            writer.write(post(prompt))
            await model.asked(prompt)
    assert {request.fate.ending for request in model.requests} == {Ending.STOPPED}
    assert [task.get_name() for task in asyncio.all_tasks() if "model" in task.get_name()] == []
    for _, writer in links:
        writer.transport.abort()


async def test_a_mistake_in_a_script_fails_the_test_that_has_it() -> None:
    def mistaken(request: Request) -> str:
        raise LookupError(request.prompt)

    script = Script().on("go", say(mistaken))
    with pytest.RaisesGroup(LookupError):
        async with ScriptedModel(script) as model, connected(model.url) as (reader, writer):
            writer.write(post("go"))
            assert (await read_plain(reader))[0] == 403


async def test_a_pace_is_kept_over_many_streams() -> None:
    words = 25
    async with ScriptedModel(Script().on("go", say("word " * words, pace=50))) as model:

        async def listen() -> float:
            async with connected(model.url) as (reader, writer):
                began = time.monotonic()
                writer.write(post("go"))
                await read_head(reader)
                await read_stream(reader)
                return time.monotonic() - began

        took = await asyncio.gather(*(listen() for _ in range(40)))
    assert min(took) >= words / 50
    assert max(took) < 10 * words / 50  # one after the other they would take forty times as long
