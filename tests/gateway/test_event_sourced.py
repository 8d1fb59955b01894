"""The event-sourced seed's own address and dialect (specs/event-sourced-server.md, B.5)."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from typing import Any

import pytest
from httpx_sse import ServerSentEvent

from claude_sessions import events as e
from claude_sessions.demo import Script, bash, question, say, think
from claude_sessions.model import Verdict
from tests.gateway.port import Port
from tests.gateway.sse_client import reading

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


FIELDS = {  # of B.1 and B.2; those with ? may be left out
    "workflow:started": "sessionId workflow input",
    "workflow:completed": "sessionId finalState exitPhase?",
    "state:intent": "intentId state patches inversePatches",
    "agent:started": "agent phase? context?",
    "agent:completed": "agent output durationMs",
    "text:delta": "agent delta",
    "thinking:delta": "agent delta",
    "tool:called": "agent toolId toolName input",
    "tool:result": "agent toolId output isError",
    "input:requested": "id prompt type options?",
    "input:received": "id value approved?",
}


def told_exactly(events: list[ServerSentEvent]) -> set[str]:
    """The seed's names that came up, each with its fields and no others."""
    for event in events:
        if event.event in FIELDS:
            fields = FIELDS[event.event].split()
            needed = {field for field in fields if not field.endswith("?")}
            found = set(event.json()["payload"])
            assert needed <= found <= {field.removesuffix("?") for field in fields}, event.event
    return {event.event for event in events} & set(FIELDS)


async def launched(port: Port, name: str, prompt: str = "hello") -> str:
    made = await port.call("claude-code.launch", prompt=prompt, name=name)
    return str(made["id"])


async def history(
    port: Port, ref: str, last: str, *, last_id: str | None = None, **params: Any
) -> list[ServerSentEvent]:
    path = f"/sessions/{ref}/events"
    async with reading(port, path, last_id=last_id, history="true", **params) as stream:
        return await stream.until(lambda event: event.event == last)


async def test_a_session_is_told_as_a_workflow(port: Port) -> None:
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    events = await history(port, id_, "agent:completed")
    names = [event.event for event in events]
    assert names[0] == "workflow:started"
    order = ["workflow:started", "agent:started", "text:delta", "agent:completed"]
    assert [name for name in names if name in order] == order
    assert "state:intent" in names
    told = {event.event: event.json() for event in events}
    assert told["workflow:started"]["payload"] == {
        "sessionId": id_,
        "workflow": "maker",
        "input": "hello",
    }
    assert told["text:delta"]["payload"] == {"agent": "claude", "delta": "You said: hello"}


async def test_the_data_is_the_whole_event_and_its_id_that_of_the_frame(port: Port) -> None:
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    for event in await history(port, id_, "agent:completed"):
        told = event.json()
        assert set(told) - {"causedBy"} == {"id", "name", "payload", "timestamp"}
        assert told["id"] == event.id
        assert told["name"] == event.event
        assert UUID.fullmatch(event.id)
        assert isinstance(told["timestamp"], int)
        assert told["timestamp"] > 1_600_000_000_000


async def test_all_the_seeds_names_have_the_seeds_fields_and_an_ended_session_stays_open(
    port: Port, script: Script
) -> None:
    thoughts = think("Hm."), question("Which?", ["Red", "Blue"]), bash("touch made"), say("Made.")
    script.on("make it", *thoughts)
    id_ = await launched(port, "maker", "make it")
    for answer in ("/answer {} 1", "/allow {}"):
        await port.chat.type(answer.format((await port.chat.asked("maker")).id))
        await port.chat.until("maker", lambda s: not s.pending)
    await port.chat.idle("maker")
    await port.chat.type("/kill maker")
    async with reading(port, f"/sessions/{id_}/events", history="true") as stream:
        events = await stream.until(lambda event: event.event == "workflow:completed")
        assert told_exactly(events) == set(FIELDS)
        await port.chat.type("/rename maker baker")
        await stream.until(lambda event: event.event == "session:renamed")


async def test_a_frame_is_three_lines_in_the_seeds_order_and_none_precedes_the_first(
    port: Port,
) -> None:
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    lines: list[str] = []
    async with port.http.stream("GET", f"/sessions/{id_}/events?history=true") as response:
        async for line in response.aiter_lines():
            lines.append(line)
            if line == "event: agent:completed":
                break
    for n in range(0, len(lines) - 4, 4):
        event, id_line, data, blank = lines[n : n + 4]
        told = json.loads(data.removeprefix("data: "))
        assert (event, id_line, blank) == (f"event: {told['name']}", f"id: {told['id']}", "")


async def test_a_position_is_inclusive_and_counted_from_nought(port: Port) -> None:
    id_ = await launched(port, "maker")
    await launched(port, "between")
    await port.chat.idle("maker")
    events = await history(port, id_, "agent:completed")
    for position in (0, 1, 4):
        some = await history(port, id_, "agent:completed", fromPosition=position)
        assert [event.id for event in some] == [event.id for event in events[position:]]


async def test_a_position_beyond_the_end_gives_what_is_still_to_come(port: Port) -> None:
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    params: dict[str, Any] = {"history": "1", "fromPosition": 100_000}
    async with reading(port, f"/sessions/{id_}/events", **params) as stream:
        await port.chat.type("/rename maker baker")
        assert (await stream.next()).event == "session:renamed"


async def test_without_history_only_what_happens_now_is_told(port: Port) -> None:
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    async with reading(port, f"/sessions/{id_}/events", fromPosition=0) as stream:
        await port.chat.type("/rename maker baker")
        first = await stream.next()
    assert first.event == "session:renamed"
    assert first.json()["payload"] == {"name": "baker"}


async def test_history_is_followed_by_what_happens_with_nothing_in_between(port: Port) -> None:
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    async with reading(port, f"/sessions/{id_}/events", history="true") as stream:
        await port.chat.type("/kill maker")
        events = await stream.until(lambda event: event.event == "workflow:completed")
    found = await port.daemon.log.events(id_)
    assert [event.id for event in events] == [event.id for event in found][: len(events)]
    assert events[-1].json()["payload"]["finalState"]["status"] == "killed"


async def test_whoever_comes_back_with_its_last_id_goes_on_after_it(port: Port) -> None:
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    events = await history(port, id_, "agent:completed")
    rest = await history(port, id_, "agent:completed", last_id=events[2].id)
    assert [event.id for event in rest] == [event.id for event in events[3:]]
    unknown = await history(port, id_, "agent:completed", last_id=str(uuid.uuid4()))
    assert [event.id for event in unknown] == [event.id for event in events]


async def test_an_unknown_session_is_a_silent_stream_that_answers_at_once_whatever_is_asked(
    port: Port,
) -> None:
    async with (
        asyncio.timeout(5),
        reading(port, f"/sessions/{uuid.uuid4()}/events", history="true", other="1") as stream,
    ):
        assert stream.status == 200


@pytest.mark.parametrize("ref", ["not%20one", "-", "ä", "x" * 100])
async def test_a_malformed_id_is_refused_in_the_seeds_words(port: Port, ref: str) -> None:
    answer = await port.http.get(f"/sessions/{ref}/events")
    assert answer.status_code == 400
    assert answer.json() == {"error": "invalid session id"}


async def test_a_position_that_is_no_number_is_refused(port: Port) -> None:
    answer = await port.http.get("/sessions/abcdefgh/events?history=true&fromPosition=x")
    assert answer.status_code == 400
    assert "fromPosition must be a number" in answer.json()["error"]


async def test_a_claude_id_leads_to_the_session(port: Port) -> None:
    id_ = await launched(port, "maker")
    claude_id = (await port.chat.idle("maker")).claude_id
    assert claude_id is not None
    events = await history(port, claude_id, "agent:completed")
    assert events[0].json()["payload"]["sessionId"] == id_


async def test_a_tool_and_its_approval_are_told_in_the_seeds_words(
    port: Port, script: Script
) -> None:
    script.on("make it", bash("touch made"), say("Made."))
    id_ = await launched(port, "maker", "make it")
    asked = await port.chat.asked("maker")
    await port.chat.type(f"/allow {asked.id}")
    events = await history(port, id_, "agent:completed")
    told = {event.event: event.json()["payload"] for event in events}
    assert told["tool:called"]["toolName"] == "Bash"
    assert told["tool:called"]["input"]["command"] == "touch made"
    assert told["input:requested"]["id"] == asked.id
    assert told["input:requested"]["type"] == "approval"
    assert '"command":"touch made"' in told["input:requested"]["prompt"]  # not only what it is for
    assert told["input:received"] == {"id": asked.id, "value": "yes", "approved": True}
    assert told["tool:result"]["toolId"] == told["tool:called"]["toolId"]
    assert told["tool:result"]["isError"] is False


async def test_a_question_is_a_choice(port: Port, script: Script) -> None:
    script.on("ask me", question("Which?", ["Red", "Blue"]), say("Thanks."))
    id_ = await launched(port, "asker", "ask me")
    asked = await port.chat.asked("asker")
    await port.chat.type(f"/answer {asked.id} 2")
    told = {event.event: event.json() for event in await history(port, id_, "agent:completed")}
    request = told["input:requested"]["payload"]
    assert request == {
        "id": asked.id,
        "prompt": "Which?",
        "type": "choice",
        "options": ["Red", "Blue"],
    }
    assert told["input:received"]["payload"] == {"id": asked.id, "value": "Blue"}


async def test_one_that_is_resumed_is_the_same_workflow_with_nothing_new_to_do(port: Port) -> None:
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    await port.chat.type("/kill maker")
    await port.chat.type("/resume maker again")
    path, params = f"/sessions/{id_}/events", {"history": "true"}
    async with reading(port, path, **params) as stream:
        await stream.until(lambda event: event.event == "workflow:completed")
        *_, second = await stream.until(lambda event: event.event == "workflow:started")
    assert second.json()["payload"] == {"sessionId": id_, "workflow": "maker", "input": ""}


async def test_a_decision_that_nobody_was_asked_for_keeps_our_name(port: Port) -> None:
    resolved = e.ApprovalResolved(
        approval_id="a", tool_use_id="t", tool_name="Read", decision=Verdict.ALLOW.value
    )
    id_ = await launched(port, "maker")
    await port.chat.idle("maker")
    await port.daemon.log.append(e.Draft(payload=resolved, session=id_))
    events = await history(port, id_, "approval:resolved")
    assert events[-1].json()["payload"]["decision"] == "allow"


async def test_a_plain_stream_has_no_names(port: Port) -> None:
    id_ = await launched(port, "maker")
    async with reading(port, f"/sessions/{id_}/events", history="1", plain="1") as stream:
        first = await stream.next()
    assert first.event == "message"
    assert first.json()["name"] == "workflow:started"
