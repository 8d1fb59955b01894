"""The log as server-sent events: from a real daemon, to an independent client."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
from httpx_sse import EventSource, ServerSentEvent

from claude_sessions import events as e
from claude_sessions.demo import Gate, Sandbox, Script, say
from claude_sessions.model import Role
from tests.gateway.port import Port, opened
from tests.gateway.sse_client import Reading, reading
from tests.waiting import eventually

EVENTS = "/api/v1/events"


def said(event: ServerSentEvent) -> str:
    return str(event.json()["payload"].get("text", ""))


def position(event: ServerSentEvent) -> int:
    return int(event.json()["position"])


async def note(port: Port, *texts: str, session: str | None = None) -> list[e.Event]:
    facts = [e.Noticed(code="test", message=text) for text in texts]
    return await port.daemon.log.append(*(e.Draft(payload=f, session=session) for f in facts))


async def launched(port: Port, name: str, prompt: str = "hello") -> str:
    made = await port.call("claude-code.launch", prompt=prompt, name=name)
    await port.chat.idle(name)
    return str(made["id"])


async def opening(stream: Reading) -> ServerSentEvent:
    first = await stream.next()
    assert first.event == "stream.opened"
    return first


async def test_history_comes_from_the_beginning_and_is_followed_by_what_happens(port: Port) -> None:
    await launched(port, "maker")
    async with reading(port, EVENTS, after=0) as stream:
        first = await opening(stream)
        assert first.json()["payload"]["resume"] == "exact"
        assert first.json()["payload"]["head"] == port.daemon.log.head
        history = await stream.until(lambda event: position(event) == port.daemon.log.head)
        assert [position(event) for event in history] == list(range(1, len(history) + 1))
        await note(port, "afterwards")
        live = await stream.next()
        assert live.event == "session.notice"
        assert live.json()["payload"] == {"code": "test", "message": "afterwards"}


async def test_without_a_position_it_begins_now_and_says_where_that_is(port: Port) -> None:
    await note(port, "before")
    async with reading(port, EVENTS) as stream:
        first = (await opening(stream)).json()["payload"]
        assert first["resume"] == "new"
        assert first["position"] == port.daemon.log.head
        assert first["epoch"] == port.daemon.log.epoch
        await note(port, "after")
        assert (await stream.next()).json()["payload"]["message"] == "after"


async def test_headers_and_the_first_event_are_there_while_nothing_happens(port: Port) -> None:
    async with asyncio.timeout(5), reading(port, EVENTS) as stream:
        await opening(stream)


async def test_whoever_comes_back_with_its_last_id_misses_and_repeats_nothing(port: Port) -> None:
    await note(port, "one", "two", "three")
    async with reading(port, EVENTS, after=0, types="session.notice") as stream:
        await opening(stream)
        left_at = (await stream.next()).id
    async with reading(port, EVENTS, after=0, types="session.notice", last_id=left_at) as stream:
        assert (await opening(stream)).json()["payload"]["resume"] == "exact"
        messages = [(await stream.next()).json()["payload"]["message"] for _ in range(2)]
    assert messages == ["two", "three"]


async def test_the_first_event_is_itself_a_place_to_come_back_to(port: Port) -> None:
    async with reading(port, EVENTS) as stream:
        place = (await opening(stream)).id
    await note(port, "missed")
    async with reading(port, EVENTS, last_id=place) as stream:
        await opening(stream)
        assert (await stream.next()).json()["payload"]["message"] == "missed"


async def test_a_place_in_another_log_is_a_gap_and_all_there_is_follows(port: Port) -> None:
    for where in ({"last_id": "otherlog:3"}, {"after": "otherlog:3"}, {"after": 10**9}):
        async with reading(port, EVENTS, **where) as stream:
            first = (await opening(stream)).json()["payload"]
            assert first["resume"] == "gap"
            assert first["position"] == 0
            assert first["reason"]
            assert position(await stream.next()) == 1


async def test_an_id_that_is_none_of_ours_is_a_gap(port: Port) -> None:
    async with reading(port, EVENTS, last_id="?") as stream:
        assert (await opening(stream)).json()["payload"]["resume"] == "gap"


async def test_a_session_has_a_stream_of_its_own_by_any_of_its_names(port: Port) -> None:
    id_ = await launched(port, "mine")
    await launched(port, "other")
    for ref in (id_, "mine", (await port.chat.state("mine")).claude_id):
        async with reading(port, f"/api/v1/sessions/{ref}/events", after=0) as stream:
            await opening(stream)
            events = await stream.until(lambda event: event.event == "turn.completed")
            assert {event.json()["sessionId"] for event in events} == {id_}
            assert events[0].event == "session.created"


async def test_only_the_types_that_were_asked_for_come(port: Port) -> None:
    await launched(port, "maker")
    async with reading(port, EVENTS, after=0, types="turn.*,assistant.message") as stream:
        await opening(stream)
        events = await stream.until(lambda event: event.event == "turn.completed")
    assert [event.event for event in events] == [
        "turn.started",
        "assistant.message",
        "turn.completed",
    ]


async def test_a_plain_stream_has_no_names_so_that_onmessage_fires(port: Port) -> None:
    async with reading(port, EVENTS, plain=1) as stream:
        await note(port, "hello")
        first, second = await stream.next(), await stream.next()
    assert first.event == second.event == "message"
    assert first.json()["type"] == "stream.opened"
    assert second.json()["type"] == "session.notice"
    assert second.id == f"{port.daemon.log.epoch}:{second.json()['position']}"


async def test_an_event_is_one_line_also_for_those_who_break_lines_where_unicode_does(
    port: Port,
) -> None:
    text = "one\u2028two\u2029three\x85four\r\nfive \U0001f600"
    await note(port, text)
    async with port.http.stream("GET", EVENTS, params={"after": 0}) as response:
        async for line in response.aiter_lines():
            told = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
            if told.get("type") == "session.notice":
                break
    assert told["payload"]["message"] == text


async def test_signals_come_live_to_whoever_asks(port: Port, script: Script) -> None:
    gate = Gate()
    script.on("slowly", say("one ", gate, "two"))
    async with reading(port, EVENTS) as silent, reading(port, EVENTS, signals=1) as stream:
        await port.call("claude-code.launch", prompt="slowly", name="talker")
        await gate.reached()
        deltas = await stream.until(lambda event: event.event == "assistant.delta")
        assert deltas[-1].json()["payload"]["delta"] == "one "
        assert deltas[-1].json()["sessionId"] == (await port.chat.state("talker")).id
        gate.open()
        heard = await silent.until(lambda event: event.event == "turn.completed")
    assert "assistant.delta" not in {event.event for event in heard}
    assert "one two" in {said(event) for event in heard if event.event == "assistant.message"}


async def test_nothing_is_missed_or_repeated_while_others_write(port: Port) -> None:
    """Readers join at every moment of a burst, leave, and come back with their last id."""

    async def write(writer: int) -> None:
        for n in range(60):
            await note(port, *(f"{writer} {n} {m}" for m in range(n % 4 + 1)))

    async def read(reader: int) -> list[int]:
        seen: list[int] = []
        last: str | None = None
        while True:
            async with reading(port, EVENTS, last_id=last, after=0) as stream:
                assert (await opening(stream)).json()["payload"]["resume"] == "exact"
                for _ in range(20 + 17 * reader):
                    event = await stream.next()
                    seen.append(position(event))
                    last = event.id
                    if event.json()["payload"].get("message") == "the end":
                        return seen

    readers = [asyncio.create_task(read(n)) for n in range(5)]
    await asyncio.gather(*(write(n) for n in range(4)))
    await note(port, "the end")
    everything = list(range(1, port.daemon.log.head + 1))
    for seen in await asyncio.gather(*readers):
        assert seen == everything


async def test_a_reader_that_leaves_is_noticed(port: Port) -> None:
    async with reading(port, EVENTS) as stream:
        await opening(stream)
        assert watchers() == 1
    await eventually(lambda: watchers() == 0)


def watchers() -> int:
    return sum(task.get_name() == "sse.watch" for task in asyncio.all_tasks())


async def test_a_revoked_token_ends_its_streams_and_they_are_told_why(port: Port) -> None:
    token = await port.scoped(Role.VIEWER, name="wall")
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(base_url=port.url, headers=headers, timeout=20) as guest,
        guest.stream("GET", EVENTS) as response,
    ):
        stream = Reading(EventSource(response))
        await opening(stream)
        await port.call("claude-code.tokens.revoke", ref="wall")
        *_, last = await stream.to_end()
    assert last.event == "stream.closed"
    assert last.json()["payload"]["reason"] == "the token was revoked"


async def test_a_token_in_the_address_is_good_for_pages_that_send_no_headers(port: Port) -> None:
    token = await port.scoped(Role.VIEWER)
    async with (
        httpx.AsyncClient(base_url=port.url, timeout=20) as page,
        page.stream("GET", EVENTS, params={"token": token}) as response,
    ):
        assert (await Reading(EventSource(response)).next()).event == "stream.opened"


async def test_a_stream_is_told_that_the_daemon_stops(sandbox: Sandbox, workdir: Path) -> None:
    async with AsyncExitStack() as client:
        async with opened(sandbox, workdir) as port:
            http = await client.enter_async_context(
                httpx.AsyncClient(base_url=port.url, headers=port.headers, timeout=20)
            )
            response = await client.enter_async_context(http.stream("GET", EVENTS))
            stream = Reading(EventSource(response))
            await opening(stream)
        last = (await stream.to_end())[-1]
    assert last.event == "stream.closed"
    assert "the daemon stops" in last.json()["payload"]["reason"]


async def test_what_cannot_be_asked_is_refused_with_reasons(port: Port) -> None:
    for query in ("after=x", "after=-1", "types=A%20B", "signals=perhaps", "nonsense=1"):
        answer = await port.http.get(f"{EVENTS}?{query}")
        assert answer.status_code == 400, query
        assert answer.json()["error"]["code"] == "VALIDATION_ERROR"
    answer = await port.http.get("/api/v1/sessions/nobody/events")
    assert answer.status_code == 404
    assert (await port.http.get(EVENTS, headers={"Authorization": ""})).status_code == 401


async def test_asking_only_for_the_headers_ends(port: Port) -> None:
    answer = await port.http.head(EVENTS)
    assert answer.headers["content-type"].startswith("text/event-stream")
