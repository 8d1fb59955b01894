"""The runtime envelope with `?replay=SEQ`: what the seed leaves out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from claude_sessions.demo import Gate, Script, bash, say, think
from tests.gateway.envelope import Client, connected
from tests.gateway.port import Port

Event = dict[str, Any]


def joined(events: list[Event]) -> list[Event]:
    """With the pieces of a block as one, as history has them; the time of a piece is its own."""
    found: list[Event] = []
    for event in events:
        event = dict(event)
        if event["type"].endswith(":delta"):
            del event["timestamp"]
            if found and found[-1]["type"] == event["type"]:
                found[-1]["content"] += event["content"]
                continue
        found.append(event)
    return found


async def lived(port: Port, script: Script, client: Client) -> None:
    """Some of all that there is."""
    script.on("work", think("Hm."), say("Look: "), bash("echo done"), say("So", " it ", "is."))
    script.on("make", bash("touch made"), say("Then not."))
    await port.chat.type("/new --name a --allow Bash(echo *) work")
    await client.until("agent:complete")
    await port.chat.type("/new --name b make it")
    pending = await port.chat.asked("b")
    await port.chat.type(f"/deny {pending.id} no")
    await client.until("agent:complete")
    await port.chat.type("/pause b")
    await port.chat.type("/resume b go on")
    await client.until("agent:complete")
    await port.chat.type("/kill a")
    await port.chat.type("/new --once --name c bye")
    await client.until("flow:complete")


async def heard_in(port: Port, query: str, count: int) -> Client:
    async with connected(port, query) as client:
        while len(joined(client.heard)) < count:
            await client.event()
        assert await client.echo() == []
        client.heard.pop()
        client.frames.pop()
    return client


async def test_a_replay_says_what_was_said_live(port: Port, script: Script) -> None:
    async with connected(port) as live:
        await lived(port, script, live)
    wanted = joined(live.heard)
    again = await heard_in(port, "?replay=0", len(wanted))
    assert joined(again.heard) == wanted


async def test_from_every_place_follows_exactly_the_rest(port: Port, script: Script) -> None:
    async with connected(port, "?replay=0") as live:
        await lived(port, script, live)
    whole = await heard_in(port, "?replay=0", len(joined(live.heard)))
    places = [n for n, frame in enumerate(whole.frames) if "seq" in frame]
    for n in places[:: max(len(places) // 12, 1)]:
        rest = whole.heard[n + 1 :]
        again = await heard_in(port, f"?replay={whole.frames[n]['seq']}", len(joined(rest)))
        assert again.heard == rest


async def test_places_rise_and_stand_at_the_end_of_what_an_event_means(port: Port) -> None:
    async with connected(port, "?replay=0") as client:
        await port.chat.type("/new --name a hello")
        await client.until("agent:complete")
    places = [frame["seq"] for frame in client.frames if "seq" in frame]
    assert places == sorted(set(places))
    start, node = client.frames[:2]
    assert "seq" not in start  # told in part only: who left here hears of it again
    assert "seq" in node
    assert all("seq" not in f for f in client.frames if f["event"]["type"] == "agent:text:delta")


async def test_without_asking_nobody_is_told_a_place(port: Port) -> None:
    async with connected(port) as client:
        await port.chat.type("/new --name a hello")
        await client.until("agent:complete")
    assert all(list(frame) == ["type", "event"] for frame in client.frames)


async def test_history_goes_over_into_what_happens_now(port: Port) -> None:
    await port.chat.type("/new --name a one")
    await port.chat.idle("a")
    async with connected(port, "?replay=0") as client:
        await client.until("agent:complete")
        await port.chat.type("/say a two")
        assert (await client.until("agent:complete"))["result"] == "You said: two"


async def test_while_much_happens_there_is_no_gap_and_no_repeat(port: Port) -> None:
    """Clients come at any moment of it, and all hear the same in the end."""
    words = ["one", *(f"message {n}" for n in range(8)), "last"]
    await port.chat.type("/new --name a one")
    comers = []
    for word in words[1:]:
        await port.chat.type(f"/say a {word}")
        comers.append(asyncio.create_task(until_last(port)))
        await port.chat.until("a", lambda s: len(s.queue) < 3)
    found = await asyncio.gather(*comers)
    assert all(each == found[0] for each in found)
    results = [e["result"] for e in found[0] if e["type"] == "agent:complete"]
    assert results == [f"You said: {word}" for word in words]


async def until_last(port: Port) -> list[Event]:
    async with connected(port, "?replay=0") as client:
        await client.until("agent:complete", lambda e: e["result"] == "You said: last")
        return joined(client.heard)


async def test_who_joins_in_the_middle_of_a_block_has_all_of_it_once(
    port: Port, script: Script
) -> None:
    first, second = Gate(), Gate()
    script.on("talk", say("One ", first, "two ", second, "three."))
    async with connected(port) as live:
        await port.chat.type("/new --name a talk")
        await live.until("agent:text:delta")
        async with connected(port, "?replay=0") as joins:
            await joins.until("agent:text:delta")
            first.open()
            await live.until("agent:text:delta", lambda e: "two" in e["content"])
            async with connected(port, f"?replay={port.daemon.log.head}") as later:
                second.open()
                for client in (live, joins, later):
                    await client.until("agent:complete")
    for client in (live, joins, later):
        pieces = [e["content"] for e in client.heard if e["type"] == "agent:text:delta"]
        assert "".join(pieces) == "One two three."


async def test_a_bound_replay_is_of_its_session_alone(port: Port) -> None:
    for name in ("a", "b"):
        await port.chat.type(f"/new --name {name} hello")
    ids = {name: (await port.chat.idle(name)).id for name in "ab"}
    async with connected(port, "?session=b&replay=0") as client:
        await client.until("agent:complete")
        assert await client.echo() == []
    assert {e["nodeId"] for e in client.heard if "nodeId" in e} == {ids["b"]}
    assert [e["flowName"] for e in client.heard if e["type"] == "flow:start"] == ["b"]


async def test_the_newest_place_is_now(port: Port) -> None:
    await port.chat.type("/new --name a hello")
    await port.chat.idle("a")
    async with connected(port, f"?replay={port.daemon.log.head}") as client:
        assert await client.echo() == []
        await port.chat.type("/say a again")
        assert (await client.until("agent:complete"))["result"] == "You said: again"


@pytest.mark.parametrize("place", [1000, 2**63 - 1])
async def test_a_place_that_this_log_has_not_reached_is_another_s_and_it_begins_anew(
    port: Port, place: int
) -> None:
    await port.chat.type("/new --name a hello")
    await port.chat.idle("a")
    async with connected(port, f"?replay={place}") as client:
        assert (await client.event())["type"] == "flow:start"
        assert (await client.until("agent:complete"))["result"] == "You said: hello"
