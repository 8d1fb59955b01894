"""`claude-sessions mcp`, started as Claude Code and Claude Desktop start it."""

from __future__ import annotations

import json
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import claude_sessions
from claude_sessions import events as e
from claude_sessions.agreed import LONGEST
from claude_sessions.demo import Sandbox, Script, ScriptedModel, say, tool
from claude_sessions.gateway.mcp.texts import LISTED
from claude_sessions.model import Reason, Role, Status
from claude_sessions.places import ADDRESS
from claude_sessions.token_file import FILE
from tests.gateway.mcp import Agent, Refusal
from tests.gateway.port import Port, opened
from tests.gateway.test_mcp_connections import HELLO, body, says
from tests.log.words import born, happened
from tests.process.machine import ENTRY


def arguments(sandbox: Sandbox, *more: str) -> list[str]:
    return ["-c", ENTRY, "mcp", "--home", str(sandbox.root / "state"), *more]


def environment(sandbox: Sandbox) -> dict[str, str]:
    package = Path(claude_sessions.__file__).parent.parent
    return {**sandbox.env, "PYTHONPATH": str(package)}


@asynccontextmanager
async def by_stdio(sandbox: Sandbox, *more: str, cwd: Path | None = None) -> AsyncIterator[Agent]:
    server = StdioServerParameters(
        command=sys.executable,
        args=arguments(sandbox, *more),
        env=environment(sandbox),
        cwd=cwd or sandbox.root,
    )
    async with Client(stdio_client(server)) as client:
        yield Agent(client)


@asynccontextmanager
async def started(sandbox: Sandbox, *more: str) -> AsyncIterator[Process]:
    process = await create_subprocess_exec(
        sys.executable,
        *arguments(sandbox, *more),
        env=environment(sandbox),
        cwd=sandbox.root,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]


async def test_an_agent_orchestrates_the_pool_over_its_own_pipes(
    port: Port, sandbox: Sandbox
) -> None:
    async with by_stdio(sandbox) as one:
        assert len((await one.client.list_tools()).tools) == 8
        await one.use("launch", prompt="hello", name="maker")
        await port.chat.idle("maker")
        await one.use("fg", session="maker")
        await one.use("bg", session="maker")
        await one.use("respond", session="maker", message="more")
        await port.chat.until("maker", lambda s: s.blocks == 2)
        told = body(await one.use("fg", session="maker"))
        assert told == ["📋 Catchup (1 missed output):", "You said: more"]
        with pytest.raises(Refusal, match='Session "nobody" not found'):
            await one.use("kill", session="nobody")
    await port.chat.until("maker", lambda s: not s.foreground)


async def test_a_session_runs_where_the_agent_works_if_it_may(
    sandbox: Sandbox, workdir: Path
) -> None:
    inner = workdir / "größer"
    inner.mkdir()
    async with opened(sandbox, workdir) as port:
        async with by_stdio(sandbox, cwd=inner) as one:
            assert f"  Dir: {inner}\n" in await one.use("launch", prompt="hello", name="maker")
        async with by_stdio(sandbox) as one:
            assert f"  Dir: {workdir}\n" in await one.use("launch", prompt="hello", name="other")
        await port.chat.idle("maker")
        await port.chat.idle("other")


async def test_where_the_agents_directory_has_a_channel_it_lists_what_reports_there(
    sandbox: Sandbox, workdir: Path
) -> None:
    inner = workdir / "inner"
    inner.mkdir()
    more: dict[str, Any] = {
        "channels": {"workdirs": {str(inner): "memory|owner"}},
        "orchestrator": {"webhook_url": "http://127.0.0.1:9/hooks/wake"},
    }
    async with opened(sandbox, workdir, **more) as port:
        await port.chat.type("/new --name theirs hello")
        async with by_stdio(sandbox, cwd=workdir) as one:
            await one.use("launch", prompt="hello", name="mine", workdir=str(inner))
            await one.use("launch", prompt="hello", name="alone")
            listed = await one.use("sessions")
            assert all(name in listed for name in ("mine", "alone", "theirs"))
        async with by_stdio(sandbox, cwd=inner) as one:
            listed = await one.use("sessions")
            assert "mine" in listed
            assert "theirs" in listed  # begun from that very channel
            assert "alone" not in listed
            for name in ("mine", "alone", "theirs"):
                await port.chat.idle(name)
            await port.chat.type("/kill mine")
            for name in (f"other{n}" for n in range(LISTED)):  # which ended later
                over = e.SessionEnded(status=Status.KILLED, reason=Reason.USER)
                await port.daemon.log.append(born(name), happened(over, name))
            listed = await one.use("sessions")
            assert "mine" in listed
            assert "other" not in listed


async def test_it_outlives_the_daemon(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir):
        stdio = by_stdio(sandbox)
        one = await stdio.__aenter__()
        assert await one.use("sessions") == "No sessions."
    with pytest.raises(Exception, match=r"No daemon answers on .*claude-sessions run"):
        await one.use("sessions")
    async with opened(sandbox, workdir) as port:
        await one.use("launch", prompt="hello", name="maker")
        await port.chat.idle("maker")
        await stdio.__aexit__(None, None, None)


async def test_what_it_has_read_is_known_over_a_restart(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir) as port:
        stdio = by_stdio(sandbox)
        one = await stdio.__aenter__()
        await one.use("launch", prompt="first", name="maker")
        await port.chat.idle("maker")
        await one.use("fg", session="maker")
    async with opened(sandbox, workdir) as port:
        await says(port, "b", "c")
        told = body(await one.use("fg", session="maker", lines=1))
        await stdio.__aexit__(None, None, None)
        assert told == ["📋 Catchup (2 missed outputs):", "You said: b", "You said: c"]
        await port.chat.until("maker", lambda s: not s.foreground)


async def test_it_outlives_a_crash_however_often_it_asks_meanwhile(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with opened(sandbox, workdir) as port:
        stdio = by_stdio(sandbox)
        one = await stdio.__aenter__()
        left = (port.home / ADDRESS).read_text()
    (port.home / ADDRESS).write_text(left)  # as a daemon that was killed leaves it
    for _ in range(2):
        with pytest.raises(Exception, match="No daemon answers on"):
            await one.use("sessions")
    async with opened(sandbox, workdir):
        assert await one.use("sessions") == "No sessions."
        await stdio.__aexit__(None, None, None)


async def test_without_a_daemon_it_says_so_and_nothing_on_stdout(
    port: Port, sandbox: Sandbox
) -> None:
    (port.home / ADDRESS).rename(port.home / "elsewhere")
    async with started(sandbox) as process:
        out, err = await process.communicate()
    assert (process.returncode, out) == (3, b"")
    assert err.decode() == (
        f"No daemon answers on {port.home}. Start it with `claude-sessions run`, "
        "or say where it is with --home or --url.\n"
    )
    async with started(sandbox, "--url", "http://127.0.0.1:9") as process:
        out, err = await process.communicate()
    assert (process.returncode, out) == (3, b"")
    assert b"No daemon answers at http://127.0.0.1:9." in err


async def test_what_was_asked_is_answered_though_the_input_has_ended(
    port: Port, sandbox: Sandbox
) -> None:
    ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    large = {"jsonrpc": "2.0", "id": "l", "method": "ping", "params": {"x": "x" * LONGEST}}
    lines = [orjson.dumps(each) for each in (HELLO, large, ping)]
    lines[1:1] = [b"{half", b""]
    async with started(sandbox, "--url", port.url) as process:
        out, err = await process.communicate(b"\n".join(lines) + b"\n")
    assert (process.returncode, err) == (0, b"")
    answers = [orjson.loads(line) for line in out.splitlines()]
    assert answers[0]["result"]["serverInfo"]["name"] == "claude-sessions"
    assert answers[1]["error"]["code"] == -32700
    assert answers[2]["id"] == "l"
    assert "A message may have 1048576 bytes" in answers[2]["error"]["message"]
    assert answers[3] == {"jsonrpc": "2.0", "id": "p", "result": {}}


async def test_another_token_has_its_own_rights(port: Port, sandbox: Sandbox) -> None:
    file = sandbox.root / "token"
    file.write_text(await port.scoped(Role.VIEWER))
    file.chmod(0o600)
    async with by_stdio(sandbox, "--token-file", str(file)) as one:
        assert await one.use("sessions") == "No sessions."
        with pytest.raises(Refusal, match="needs the role prompter"):
            await one.use("launch", prompt="hello")


async def test_a_token_that_others_can_read_is_not_used(port: Port, sandbox: Sandbox) -> None:
    (port.home / FILE).chmod(0o644)
    async with started(sandbox) as process:
        out, err = await process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert b"others can read it; run: chmod 600" in err


async def test_claude_code_in_a_session_launches_another_one(
    sandbox: Sandbox, workdir: Path, script: Script, model: ScriptedModel
) -> None:
    script.on(
        "delegate this",
        tool("mcp__claude-sessions__claude_launch", prompt="the child's work", name="child"),
        say(lambda request: f"It says {request.last_tool_result}"),
    )
    server = {
        "type": "stdio",
        "command": sys.executable,
        "args": arguments(sandbox),
        "env": environment(sandbox),
    }
    file = sandbox.home / ".claude.json"
    known = json.loads(file.read_text())
    file.write_text(json.dumps({**known, "mcpServers": {"claude-sessions": server}}))
    async with opened(sandbox, workdir) as port:
        await port.chat.type("/new --name parent delegate this")
        asked = await port.chat.asked("parent")
        assert asked.tool_name == "mcp__claude-sessions__claude_launch"
        await port.chat.type(f"/allow {asked.id}")
        await model.asked("the child's work")
        await port.chat.idle("child")
        await port.chat.idle("parent")
        assert "Session launched." in await port.chat.type("/output parent")
        child = await port.chat.state("child")
        (said,) = await port.daemon.log.tail_of(child.id, ("user.message",), 5)
        assert said.caller == "owner's agent (MCP)"
