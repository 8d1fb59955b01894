"""A connection is a channel: it knows what it was told, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from mcp.shared.exceptions import MCPError

from claude_sessions import events as e
from claude_sessions.agreed import PLACE
from claude_sessions.config import make_home
from claude_sessions.daemon import open_daemon
from claude_sessions.demo import Sandbox
from claude_sessions.gateway.auth import Doorkeeper
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.house import House
from claude_sessions.gateway.listing import Listing
from claude_sessions.gateway.mcp.connections import KIND
from claude_sessions.gateway.mcp.door import McpDoor
from claude_sessions.gateway.metrics import Meter
from claude_sessions.gateway.runtime_cast import Broadcast
from claude_sessions.gateway.server import application
from claude_sessions.gateway.visits import MOST_OF_ONE, Visits
from claude_sessions.model import Role
from claude_sessions.orchestrator.channel import is_foreign
from claude_sessions.people import Caller
from claude_sessions.settings import GatewaySettings, Settings
from claude_sessions.state import draft
from tests.gateway.mcp import Agent, Refusal, agent
from tests.gateway.port import Port, opened
from tests.waiting import eventually

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bare", "version": "1"},
    },
}
FOREGROUND = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "claude_fg", "arguments": {"session": "maker"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}
SHARED = {PLACE: "0123456789abcdef"}


async def begun(port: Port, one: Agent) -> None:
    await one.use("launch", prompt="first", name="maker")
    await port.chat.idle("maker")


async def says(port: Port, *words: str) -> None:
    for word in words:
        before = (await port.chat.state("maker")).blocks
        await port.chat.type(f"/say maker {word}")
        await port.chat.until("maker", lambda s, n=before: s.blocks > n)  # type: ignore[misc]
        await port.chat.idle("maker")


async def revoke(port: Port, token: str) -> None:
    params = {"ref": token}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "claude-code.tokens.revoke", "params": params}
    assert "result" in (await port.post(asked)).json()


def body(text: str) -> list[str]:
    """Between the rules, without the empty lines."""
    return [line for line in text.split("─" * 60)[1].splitlines() if line]


async def test_coming_forward_shows_the_last_outputs(port: Port) -> None:
    async with agent(port) as one:
        await begun(port, one)
        await says(port, "b", "c")
        told = await one.use("fg", session="maker", lines=2)
        assert told.startswith("Session: maker [")
        assert body(told) == ["You said: b", "You said: c"]
        assert "claude_respond answers it" in told.splitlines()[-1]


async def test_what_was_missed_in_the_background_is_caught_up_with_exactly(port: Port) -> None:
    async with agent(port) as one:
        await begun(port, one)
        await one.use("fg", session="maker")
        assert await one.use("bg", session="maker") == "In the background: maker."
        await says(port, "b", "c")
        told = body(await one.use("fg", session="maker", lines=1))
        assert told == ["📋 Catchup (2 missed outputs):", "You said: b", "You said: c"]


async def test_nothing_is_streamed_to_it_so_what_came_while_in_front_is_missed_too(
    port: Port,
) -> None:
    async with agent(port) as one:
        await begun(port, one)
        await one.use("fg", session="maker")
        await says(port, "b")
        told = body(await one.use("fg", session="maker"))
        assert told == ["📋 Catchup (1 missed output):", "You said: b"]
        await says(port, "c")
        await one.use("bg")
        await says(port, "d")
        told = body(await one.use("fg", session="maker"))
        assert told == ["📋 Catchup (2 missed outputs):", "You said: c", "You said: d"]


async def test_two_connections_have_a_place_each(port: Port) -> None:
    async with agent(port) as one, agent(port) as other:
        await begun(port, one)
        await one.use("fg", session="maker")
        await says(port, "b")
        await other.use("fg", session="maker")
        await says(port, "c")
        assert "2 missed outputs" in await one.use("fg", session="maker")
        assert "1 missed output)" in await other.use("fg", session="maker")
        assert await other.use("bg") == "In the background: maker."
        assert await other.use("bg") == "Nothing was in the foreground here."


async def test_who_leaves_has_nothing_in_the_foreground_any_longer(port: Port) -> None:
    async with agent(port) as one:
        await begun(port, one)
        await one.use("fg", session="maker")
        (channel,) = (await port.chat.state("maker")).foreground
        assert channel.startswith("mcp|")
    state = await port.chat.until("maker", lambda s: not s.foreground)
    assert state.bookmarks[channel] == 1


async def test_who_is_silent_for_long_is_taken_for_gone(port: Port) -> None:
    house = house_of(port)
    door = McpDoor(house, idle_seconds=0.2)
    await port.chat.type("/new --name maker hello")
    async with door.open(), bare(port, house, door) as http:
        left = (await http.post("/mcp", json=HELLO)).headers["mcp-session-id"]
        own = {"mcp-session-id": left}
        assert "result" in (await http.post("/mcp", json=FOREGROUND, headers=own)).json()
        await port.chat.until("maker", lambda s: f"mcp|{left}" in s.bookmarks and not s.foreground)
        await eventually(lambda: len(house.visits) == 0)
        assert (await http.post("/mcp", json=FOREGROUND, headers=own)).status_code == 404
    await port.chat.idle("maker")


def house_of(port: Port) -> House:
    """Another in the same daemon, whose visits can be seen."""
    daemon = port.daemon
    visits = Visits(daemon.pool.clock)
    return House(
        settings=daemon.settings,
        pool=daemon.pool,
        router=daemon.router,
        visits=visits,
        listing=Listing(daemon.pool),
        meter=Meter(daemon.pool, daemon.router, visits),
        runtime=Broadcast(daemon.log, daemon.pool.clock),
    )


def bare(port: Port, house: House, door: McpDoor) -> httpx.AsyncClient:
    """To a door of its own, without a socket in between."""
    keeper = Doorkeeper(
        owner=lambda: port.chat.caller,
        owners_token=port.token,
        tokens=house.pool.tokens,
        clock=house.clock,
        requests_per_second=None,
    )
    route = Entrance(keeper).http("/mcp", door.enter, ["GET", "POST", "DELETE"])
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(application(GatewaySettings(), [route])),
        base_url="http://localhost",
        headers={**port.headers, **ACCEPT},
    )


def test_no_orchestrator_is_told_what_is_for_a_connection() -> None:
    assert not is_foreign(f"{KIND}|anything", lambda channel: False)


async def test_when_the_daemon_stops_nothing_dangles(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir) as port:
        async with agent(port) as one:
            await begun(port, one)
        headers = {**port.headers, **ACCEPT}
        async with httpx.AsyncClient(base_url=port.url, headers=headers) as http:
            left = (await http.post("/mcp", json=HELLO)).headers["mcp-session-id"]
            await http.post("/mcp", json=FOREGROUND, headers={"mcp-session-id": left})
        assert f"mcp|{left}" in (await port.chat.state("maker")).foreground
    async with opened(sandbox, workdir) as port:
        assert (await port.chat.state("maker")).foreground == {}


async def test_what_a_killed_daemon_left_is_put_right_at_the_next_start(
    sandbox: Sandbox, workdir: Path
) -> None:
    settings = Settings.model_validate(
        {"sessions": {"default_workdir": workdir}, "gateway": {"enabled": False}}
    )
    home = make_home(sandbox.root / "state")
    caller = Caller(name="somebody", role=Role.ADMIN, door="memory")
    async with open_daemon(settings, home, environ=sandbox.env) as daemon:
        await daemon.hear("/new --name maker hello", caller)
        state = await daemon.book.find("maker")
        await daemon.log.append(draft(state, e.Foregrounded(channel=f"{KIND}|gone")))
    async with opened(sandbox, workdir) as port:
        assert (await port.chat.state("maker")).foreground == {}


async def test_a_connection_is_of_no_use_to_another_token(port: Port) -> None:
    theirs = await port.scoped(Role.PROMPTER)
    async with agent(port):
        headers = {**ACCEPT}
        left = (await port.http.post("/mcp", json=HELLO, headers=headers)).headers["mcp-session-id"]
        stolen = {**ACCEPT, "mcp-session-id": left, "Authorization": f"Bearer {theirs}"}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        answer = await port.http.post("/mcp", json=ping, headers=stolen)
        assert answer.status_code == 404
        own = {**ACCEPT, "mcp-session-id": left}
        assert (await port.http.post("/mcp", json=ping, headers=own)).json()["result"] == {}


async def test_nor_is_its_place(port: Port) -> None:
    theirs = await port.scoped(Role.PROMPTER, name="other")
    async with agent(port) as one:
        await begun(port, one)
    for token in (port.token, theirs):
        own = {**ACCEPT, **SHARED, "Authorization": f"Bearer {token}"}
        made = await port.http.post("/mcp", json=HELLO, headers=own)
        own["mcp-session-id"] = made.headers["mcp-session-id"]
        assert "result" in (await port.http.post("/mcp", json=FOREGROUND, headers=own)).json()
    front = (await port.chat.state("maker")).foreground
    assert len(front) == 2
    assert "mcp|owner-0123456789abcdef" in front


async def test_a_place_is_left_with_the_last_connection_to_it(port: Port) -> None:
    async with agent(port) as one:
        await begun(port, one)
    both = []
    for _ in range(2):  # a bridge that lost sight of the daemon for a moment makes another
        made = await port.http.post("/mcp", json=HELLO, headers=ACCEPT | SHARED)
        both.append(ACCEPT | SHARED | {"mcp-session-id": made.headers["mcp-session-id"]})
    old, new = both
    await port.http.post("/mcp", json=FOREGROUND, headers=new)
    await port.http.delete("/mcp", headers=old)
    (gateway,) = port.daemon.pool.health.doors
    await eventually(lambda: gateway().data["connections"] == 1)
    assert (await port.chat.state("maker")).foreground
    await port.http.delete("/mcp", headers=new)
    await port.chat.until("maker", lambda s: not s.foreground)


async def test_without_a_token_there_is_no_tool(port: Port) -> None:
    answer = await port.http.post("/mcp", json=HELLO, headers={"Authorization": "", **ACCEPT})
    assert answer.status_code == 401


async def test_a_revoked_token_ends_its_connections(port: Port) -> None:
    token = await port.scoped(Role.PROMPTER, name="robot")
    async with agent(port, token) as one:
        await begun(port, one)
        await one.use("fg", session="maker")
        await revoke(port, "robot")
        await port.chat.until("maker", lambda s: not s.foreground)
        with pytest.raises(MCPError):
            await one.use("sessions")


async def test_the_stream_of_a_connection_ends_with_it(port: Port) -> None:
    token = await port.scoped(Role.VIEWER, name="robot")
    auth = {**ACCEPT, "Authorization": f"Bearer {token}"}
    made = await port.http.post("/mcp", json=HELLO, headers=auth)
    auth["mcp-session-id"] = made.headers["mcp-session-id"]
    async with port.http.stream("GET", "/mcp", headers=auth) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        await revoke(port, "robot")
        assert [line async for line in stream.aiter_lines() if line.startswith("data")] == []


async def test_who_comes_back_with_a_place_in_another_stream_gets_a_new_one(port: Port) -> None:
    made = await port.http.post("/mcp", json=HELLO, headers=ACCEPT)
    own = {**ACCEPT, "mcp-session-id": made.headers["mcp-session-id"], "last-event-id": "7"}
    async with port.http.stream("GET", "/mcp", headers=own) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")


async def test_the_log_says_who_used_what_at_whose_request(
    port: Port, capfd: pytest.CaptureFixture[str]
) -> None:
    made = await port.http.post("/mcp", json=HELLO, headers=ACCEPT)
    own = {**ACCEPT, "mcp-session-id": made.headers["mcp-session-id"], "x-request-id": "mine-7"}
    await port.http.post("/mcp", json=FOREGROUND, headers=own)
    lines = capfd.readouterr().out.splitlines()
    (refused,) = [line for line in lines if "mcp.refused" in line]
    for told in ("tool=claude_fg", 'by="owner\'s agent (MCP)"', "mine-7", "not found"):
        assert told in refused


async def test_a_token_with_too_many_connections_gets_no_more_others_do(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with opened(sandbox, workdir, gateway={"requests_per_second": 0}) as port:
        auth = {**ACCEPT, "Authorization": f"Bearer {await port.scoped(Role.VIEWER)}"}
        for _ in range(MOST_OF_ONE):
            last = await port.http.post("/mcp", json=HELLO, headers=auth)
            assert last.status_code == 200
        more = await port.http.post("/mcp", json=HELLO, headers=auth)
        assert more.status_code == 429
        assert "500 open connections with this token" in more.json()["error"]["message"]
        own = {**auth, "mcp-session-id": last.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert (await port.http.post("/mcp", json=ping, headers=own)).json()["result"] == {}
        assert (await port.http.post("/mcp", json=HELLO, headers=ACCEPT)).status_code == 200
        await port.http.delete("/mcp", headers=own)
        assert (await port.http.post("/mcp", json=HELLO, headers=auth)).status_code == 200


async def test_deleting_it_ends_it(port: Port) -> None:
    made = await port.http.post("/mcp", json=HELLO, headers=ACCEPT)
    own = {**ACCEPT, "mcp-session-id": made.headers["mcp-session-id"]}
    assert (await port.http.delete("/mcp", headers=own)).status_code == 200
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert (await port.http.post("/mcp", json=ping, headers=own)).status_code == 404


async def test_a_version_without_connections_is_told_which_there_are(port: Port) -> None:
    headers = {**ACCEPT, "mcp-protocol-version": "2026-07-28"}
    answer = await port.http.post("/mcp", json=HELLO, headers=headers)
    assert answer.status_code == 400
    assert "2025-06-18" in answer.json()["error"]["data"]["supported"]


async def test_it_can_be_switched_off(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, mcp={"enabled": False}) as port:
        assert (await port.http.post("/mcp", json=HELLO, headers=ACCEPT)).status_code == 404


async def test_who_only_looks_may_list_and_read_but_not_act(port: Port) -> None:
    viewer = await port.scoped(Role.VIEWER)
    async with agent(port) as one:
        await begun(port, one)
    async with agent(port, viewer) as one:
        assert "maker" in await one.use("sessions")
        assert "You said: first" in await one.use("output", session="maker")
        assert "You said: first" in await one.use("fg", session="maker")
        await one.use("stats")
        for tool, arguments in (
            ("launch", {"prompt": "x"}),
            ("launch", {"prompt": "x", "resume_session_id": "maker"}),
            ("respond", {"session": "maker", "message": "x"}),
            ("kill", {"session": "maker"}),
        ):
            with pytest.raises(Refusal, match="needs the role prompter, yours is viewer"):
                await one.use(tool, **arguments)


async def test_the_owners_agent_is_not_the_owner(port: Port) -> None:
    async with agent(port) as one:
        with pytest.raises(Refusal, match="bypassPermissions loosens"):
            await one.use("launch", prompt="x", permission_mode="bypassPermissions")
        with pytest.raises(Refusal, match="allow tools in advance"):
            await one.use("launch", prompt="x", allowed_tools=["Bash(ls)"])
        with pytest.raises(Refusal, match="larger budget"):
            await one.use("launch", prompt="x", max_budget_usd=50)
        assert await one.use("sessions") == "No sessions."


@pytest.mark.filterwarnings("ignore:can_use_tool will not be invoked")  # said of bypass by the SDK
async def test_no_agent_wakes_what_a_person_made_looser(port: Port) -> None:
    await port.chat.type("/new --name wild --mode bypass hello")
    await port.chat.idle("wild")
    await port.chat.type("/sleep wild")
    async with agent(port) as one:
        with pytest.raises(Refusal, match="wild runs in bypassPermissions"):
            await one.use("respond", session="wild", message="rm -rf")
        with pytest.raises(Refusal, match="wild runs in bypassPermissions"):
            await one.use("launch", prompt="rm -rf", resume_session_id="wild")
