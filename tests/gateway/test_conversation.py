"""JSON-RPC on a WebSocket."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from claude_sessions.demo import Gate, Script, say
from claude_sessions.model import Role
from tests.gateway.ear import listening
from tests.gateway.port import Port, RpcError


async def test_history_and_then_what_follows_come_without_gap_or_repeat(port: Port) -> None:
    await port.call("claude-code.launch", prompt="one", name="maker")
    await port.chat.idle("maker")
    async with listening(port) as ear:
        made = await ear.call("claude-code.subscribe", after=0, session="maker")
        await ear.call("claude-code.respond", session="maker", message="two")
        texts = [(await ear.until("assistant.message"))["payload"]["text"] for _ in range(2)]
        assert texts == ["You said: one", "You said: two"]
        told = await port.call("claude-code.events", session="maker", limit=1000)
        assert made["epoch"] == told["epoch"]
        assert [e["seq"] for e in told["events"]] == list(range(1, len(told["events"]) + 1))


@pytest.mark.parametrize("place", [{"after": 10**6}, {"after": 1, "epoch": "another"}])
async def test_a_place_in_another_log_begins_at_the_beginning_and_says_so(
    port: Port, place: dict[str, Any]
) -> None:
    await port.call("claude-code.launch", prompt="one", name="maker")
    await port.chat.idle("maker")
    async with listening(port) as ear:
        made = await ear.call("claude-code.subscribe", **place)
        assert (made["resume"], made["position"]) == ("gap", 0)
        await ear.until("session.created")
        again = {"after": 1, "epoch": made["epoch"]}
        assert (await ear.call("claude-code.subscribe", **again))["resume"] == "exact"
        assert (await ear.call("claude-code.subscribe"))["resume"] == "new"


async def test_words_come_as_they_are_said_where_signals_are_wanted(
    script: Script, port: Port
) -> None:
    gate = Gate()
    script.on("talk", say("Hello ", gate, "world."))
    async with listening(port) as ear:
        await ear.call("claude-code.subscribe", signals=True, types=["assistant.*"])
        await ear.call("claude-code.launch", prompt="talk", name="talker")
        first = await ear.until("assistant.delta")
        assert first["payload"]["delta"] == "Hello "
        gate.open()
        assert (await ear.until("assistant.message"))["payload"]["text"] == "Hello world."


async def test_a_subscription_that_is_ended_says_no_more(port: Port) -> None:
    async with listening(port) as ear:
        made = await ear.call("claude-code.subscribe", types=["session.created"])
        await ear.call("claude-code.unsubscribe", subscription=made["subscription"])
        await ear.call("claude-code.launch", prompt="one", name="maker")
        await port.chat.idle("maker")
        await ear.call("claude-code.sessions")
        assert ear.news == []


async def test_one_subscribes_on_a_websocket_only(port: Port) -> None:
    with pytest.raises(RpcError, match="WebSocket"):
        await port.call("claude-code.subscribe")


async def test_a_revoked_token_ends_its_connections_and_says_why(port: Port) -> None:
    token = await port.scoped(Role.VIEWER, name="watcher")
    async with listening(port, token=token) as ear:
        await ear.call("claude-code.sessions")
        await port.call("claude-code.tokens.revoke", ref="watcher")
        with pytest.raises(ConnectionClosed):
            await ear.hears()
        assert ear.connection.close_code == 4401
        assert "revoked" in (ear.connection.close_reason or "")


async def test_frames_that_are_no_calls_are_answered_and_the_connection_stays(port: Port) -> None:
    async with listening(port) as ear:
        for frame in ("{", "[]", "7", '{"jsonrpc":"2.0","method":"nothing","id":"x"}'):
            await ear.connection.send(frame)
            assert "error" in await ear.hears()
        await ear.connection.send(json.dumps({"jsonrpc": "2.0", "method": "claude-code.stats"}))
        assert (await ear.call("claude-code.sessions"))["count"] == 0


async def test_each_frame_has_an_id_that_its_events_and_log_lines_name(
    port: Port, capfd: pytest.CaptureFixture[str]
) -> None:
    async with listening(port) as ear:
        for name in ("one", "two"):
            await ear.call("claude-code.launch", prompt="hello", name=name)
            with pytest.raises(RpcError):
                await ear.call("claude-code.launch", prompt="hello", name="No Name")
    created = (await port.call("claude-code.events", types=["session.created"]))["events"]
    causes = [re.fullmatch(r"gateway#(\w{8})", event["causedBy"]) for event in created]
    lines = [line for line in capfd.readouterr().out.splitlines() if "rpc.refused" in line]
    named = [re.search(r"request_id=(\w{8})\b", line) for line in lines]
    ids = [found[1] for found in (*causes, *named) if found]
    assert len(set(ids)) == 4
