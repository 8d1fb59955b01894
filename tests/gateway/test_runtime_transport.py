"""The runtime envelope, A.2: how the socket behaves, whatever is said on it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from claude_sessions.demo import Gate, Sandbox, Script, say
from claude_sessions.events import AssistantDelta
from claude_sessions.model import Role
from tests.gateway.envelope import Client, connected
from tests.gateway.port import Port, opened


async def test_a_request_without_an_upgrade_is_told_that_one_is_required(port: Port) -> None:
    answer = await port.http.get("/ws")
    assert (answer.status_code, answer.text) == (426, "Upgrade required")


async def test_that_is_told_only_to_those_who_may_come_in(port: Port) -> None:
    answer = await port.http.get("/ws", headers={"Authorization": ""})
    assert answer.status_code == 401


async def test_at_another_path_there_is_nothing(port: Port) -> None:
    assert (await port.http.get("/wss")).status_code == 404
    with pytest.raises(InvalidStatus) as refused:
        async with connected(port, "s"):
            pass
    assert refused.value.response.status_code in (403, 404)


async def test_there_is_no_hello_and_each_event_is_in_an_envelope(port: Port) -> None:
    async with connected(port) as client:
        await client.say({"type": "anything"})
        await client.event()
        (frame,) = client.frames
        assert list(frame) == ["type", "event"]
        assert frame["event"]["type"] == "command:received"


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"command"',
        b"\xff\xfe",
        b'{"type":"hello"}',
        b'{"type":null}',
        b'{"command":{"type":"abort"}}',
        b'{"type":"event","event":{"type":"flow:start"}}',
        b'{"type":"command"}',
        b'{"type":"command","command":null}',
        b'{"type":"command","command":"abort"}',
        b'{"type":"command","command":{"type":"\\ud800"}}',
        b'{"type":"command","command":{"a":' + b"[" * 300 + b"]" * 300 + b"}}",
    ],
)
async def test_what_is_no_command_is_ignored_and_logged_and_the_socket_stays_open(
    port: Port, frame: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    async with connected(port) as client:
        await client.socket.send(frame)
        assert await client.echo() == []
    ignored, _echo = [line for line in capfd.readouterr().out.splitlines() if "ignored" in line]
    assert "runtime.ignored" in ignored
    assert "why=" in ignored


async def test_a_binary_frame_is_read_like_a_text(port: Port) -> None:
    async with connected(port) as client:
        await client.socket.send(json.dumps({"type": "command", "command": {"ü": 1}}).encode())
        assert (await client.event())["command"] == {"ü": 1}


async def test_every_client_hears_every_event(port: Port) -> None:
    async with connected(port) as one, connected(port) as other:
        await port.chat.type("/new --name a hello")
        await port.chat.type("/new --name b hello")
        for client in (one, other):
            await client.until("agent:complete")
            await client.until("agent:complete")
        assert one.heard == other.heard
        assert [e["flowName"] for e in one.heard if e["type"] == "flow:start"] == ["a", "b"]


async def test_one_who_leaves_takes_nothing_from_the_others(port: Port) -> None:
    async with connected(port) as stays:
        async with connected(port) as leaves:
            await leaves.echo("one")
        async with connected(port) as breaks_off:
            breaks_off.socket.transport.abort()
        await port.chat.type("/new --name a hello")
        await stays.until("agent:complete")


async def test_what_happened_before_a_client_came_is_not_told(port: Port) -> None:
    await port.chat.type("/new --name a hello")
    await port.chat.idle("a")
    async with connected(port) as client:
        assert await client.echo() == []


async def test_a_client_may_come_in_the_middle_of_a_block(port: Port, script: Script) -> None:
    gate = Gate()
    script.on("talk", say("One ", gate, "two."))
    await port.chat.type("/new --name a talk")
    await gate.reached()
    async with connected(port) as client:
        gate.open()
        await client.until("agent:complete")
    texts = [e["content"] for e in client.heard if e["type"] == "agent:text"]
    assert texts == ["One two."]


async def test_the_socket_outlives_a_run(port: Port) -> None:
    async with connected(port) as client:
        for name in ("a", "b"):
            await port.chat.type(f"/new --once --name {name} hello")
            await client.until("flow:complete")
        await port.chat.type("/resume a again")
        await client.until("flow:start", lambda e: e["flowName"] == "a")


# --- who comes in


async def test_a_scoped_token_may_stand_in_the_address(port: Port) -> None:
    token = await port.scoped(Role.PROMPTER)
    async with connected(port, f"?token={token}", token="") as client:
        assert await client.echo() == []


async def test_the_owner_s_own_token_may_not(port: Port) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connected(port, f"?token={port.token}", token=""):
            pass
    assert refused.value.response.status_code in (401, 403)


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_without_a_good_token_nobody_comes_in(port: Port, token: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connected(port, token=token):
            pass
    assert refused.value.response.status_code == 401


async def test_an_open_path_lets_this_machine_look(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, gateway={"open_paths": ["/ws"]}) as port:
        async with connected(port, token="") as anybody, connected(port) as owner:
            await anybody.say({"type": "abort"})
            await owner.echo()
            await port.chat.type("/new --name a hello")
            await anybody.until("agent:complete")
            assert owner.types[0] == "command:received"
            assert [e["command"]["type"] for e in owner.heard] == ["nothing"]
        async with httpx.AsyncClient() as nobody:
            assert (await nobody.get(f"{port.url}/ws")).status_code == 426


async def test_an_open_path_is_not_open_to_whom_a_proxy_lets_through(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with opened(sandbox, workdir, gateway={"open_paths": ["/ws"]}) as port:
        for header in ("X-Forwarded-For", "Forwarded", "Via"):
            with pytest.raises(InvalidStatus) as refused:
                await connect(f"{port.ws}/ws", additional_headers={header: "for=192.0.2.1"})
            assert refused.value.response.status_code == 401


async def test_a_revoked_token_ends_the_connection(port: Port) -> None:
    token = await port.scoped(Role.VIEWER, name="phone")
    async with connected(port, token=token) as client:
        await port.call("claude-code.tokens.revoke", ref="phone")
        with pytest.raises(ConnectionClosed):
            await client.event()
        assert client.socket.close_code == 4401


@pytest.mark.parametrize("place", ["x", "-1", "1.5", "٣", "9" * 40])
async def test_a_place_that_is_none_is_refused(port: Port, place: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connected(port, f"?replay={place}"):
            pass
    assert refused.value.response.status_code == 400


async def test_a_session_that_is_not_there_is_refused(port: Port) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connected(port, "?session=nobody"):
            pass
    assert refused.value.response.status_code == 404


async def test_one_who_does_not_read_is_cut_and_holds_nobody_up(port: Port) -> None:
    await port.chat.type("/new --name a hello")
    session = (await port.chat.idle("a")).id
    async with connected(port, max_queue=1) as slow, connected(port) as reader:
        for n in range(40):
            text = "x" * 900_000
            delta = AssistantDelta(session=session, turn=None, block=f"b{n}", offset=0, text=text)
            port.daemon.log.signal(delta)
            await reader.until("agent:text:delta")
        with pytest.raises(ConnectionClosed):
            await slow.until("nothing more")
        assert slow.socket.close_code == 1013


# --- whatever is sent

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=10,
)
WORDS = st.sampled_from(["send", "reply", "resume", "send", "reply", "resume", "x", ""])
FIELDS = st.sampled_from(["runId", "message", "promptId", "content", "resumable", "reason", "type"])
COMMANDS = st.builds(
    lambda kind, more: {"type": "command", "command": {**more, "type": kind}},
    WORDS,
    st.dictionaries(FIELDS, JSON, max_size=5),
)
FRAMES = (
    st.binary(max_size=60)
    | st.text(max_size=60)
    | JSON.map(json.dumps)
    | COMMANDS.map(json.dumps)
    | st.builds(lambda kind, body: json.dumps({"type": kind, "command": body}), WORDS, JSON)
)


async def test_nothing_that_is_sent_closes_the_socket_or_stops_a_session(port: Port) -> None:
    await port.chat.type("/new --name a hello")
    await port.chat.idle("a")
    loop = asyncio.get_running_loop()
    async with connected(port) as client:

        @settings(
            max_examples=60,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(st.lists(FRAMES, min_size=1, max_size=5))
        def survives(frames: list[bytes | str]) -> None:
            asyncio.run_coroutine_threadsafe(swallowed(client, frames), loop).result(30)

        await asyncio.to_thread(survives)
    assert (await port.chat.state("a")).status.has_process


async def swallowed(client: Client, frames: list[bytes | str]) -> None:
    for frame in frames:
        await client.socket.send(frame if isinstance(frame, bytes) else frame.encode("utf-8"))
    await client.echo()
