"""`claude-sessions run` without a terminal: what systemd, a container and a script see."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import httpx

from claude_sessions.lock import only_one
from claude_sessions.places import ADDRESS
from claude_sessions.token_file import FILE
from tests.process.machine import ANY_PORT, PATIENCE, Machine


async def test_it_serves_until_sigterm_then_leaves_with_0_and_frees_the_home(
    machine: Machine,
) -> None:
    async with machine.started(machine.run()) as daemon:
        ready = await daemon.says("daemon.ready")
        assert str(machine.home) in ready
        os.kill(daemon.pid, signal.SIGTERM)  # in the very moment: it must be listening already
        assert await daemon.left() == 0
    assert [line.split("]")[1].split()[0] for line in daemon.lines] == [
        "daemon.ready",
        "daemon.stopping",
        "daemon.stopped",
    ]
    with only_one(machine.home):
        pass


async def test_the_usual_places_are_used_when_no_flag_says_otherwise(machine: Machine) -> None:
    config = machine.sandbox.home / ".config" / "claude-sessions" / "config.toml"
    config.parent.mkdir(parents=True)
    machine.configure().rename(config)
    state = machine.sandbox.home / ".local" / "state" / "claude-sessions"
    async with machine.started(machine.command("run")) as daemon:
        ready = await daemon.says("daemon.ready")
        assert f"configuration={config}" in ready
        assert f"home={state}" in ready
        os.kill(daemon.pid, signal.SIGINT)
        assert await daemon.left() == 0
    assert state.stat().st_mode & 0o777 == 0o700


async def test_systemd_is_told_when_it_is_ready_and_when_it_stops(machine: Machine) -> None:
    address = str(machine.sandbox.root / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address)
        systemd.setblocking(False)
        loop = asyncio.get_running_loop()
        async with machine.started(machine.run(), {"NOTIFY_SOCKET": address}) as daemon:
            async with asyncio.timeout(PATIENCE):
                assert await loop.sock_recv(systemd, 100) == b"READY=1"
            os.kill(daemon.pid, signal.SIGTERM)
            async with asyncio.timeout(PATIENCE):
                assert await loop.sock_recv(systemd, 100) == b"STOPPING=1"
            assert await daemon.left() == 0


async def test_a_closed_stdin_and_a_deaf_systemd_do_not_keep_it_from_serving(
    machine: Machine,
) -> None:
    command = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *machine.run()]
    async with machine.started(command, {"NOTIFY_SOCKET": "/nowhere/at/all"}) as daemon:
        await daemon.says("systemd.unreachable")
        os.kill(daemon.pid, signal.SIGTERM)
        assert await daemon.left() == 0
    assert "Traceback" not in "\n".join(daemon.lines)


async def test_a_second_daemon_on_the_same_home_is_refused_and_told_of_the_first(
    machine: Machine,
) -> None:
    async with machine.started(machine.run()) as first:
        await first.says("daemon.ready")
        second = await machine.ran(*machine.run())
        assert second.code == 1
        assert f"already runs on {machine.home} (pid {first.pid})" in second.err
        assert len(second.err.splitlines()) == 1
        os.kill(first.pid, signal.SIGTERM)
        assert await first.left() == 0


async def test_a_lock_that_names_somebody_else_s_process_fools_nobody(machine: Machine) -> None:
    machine.home.mkdir(mode=0o700)
    (machine.home / "lock").write_text(f"pid {os.getpid()}\n")  # it lives, and is not a daemon
    async with machine.started(machine.run()) as daemon:
        await daemon.says("daemon.ready")
        assert (machine.home / "lock").read_text() == f"pid {daemon.pid}\n"
        os.kill(daemon.pid, signal.SIGTERM)
        assert await daemon.left() == 0


async def test_a_bad_configuration_is_refused_with_2_and_a_line_for_each_problem(
    machine: Machine,
) -> None:
    file = machine.configure('[log]\nlevel = "loud"\n[console]\nenable = true', max_sessions=0)
    refused = await machine.ran(*machine.run())
    assert refused.code == 2
    lines = sorted(refused.err.splitlines())
    assert [line.split(": ")[:2] for line in lines] == [
        [str(file), "console.enable"],
        [str(file), "log.level"],
        [str(file), "sessions.max_sessions"],
    ]
    assert "did you mean enabled?" in lines[0]
    assert not machine.home.exists()


async def test_a_home_that_cannot_be_used_is_refused_in_one_line(machine: Machine) -> None:
    (machine.home / "lock").mkdir(parents=True)
    machine.home.chmod(0o700)
    refused = await machine.ran(*machine.run())
    assert refused.code == 2
    assert refused.err.startswith(f"{machine.home}/lock: cannot be opened")
    assert len(refused.err.splitlines()) == 1


async def test_json_lines_are_json_and_have_no_secrets(machine: Machine) -> None:
    machine.configure('[log]\nformat = "json"')
    home = machine.sandbox.root / "sk-ant-0123456789"
    command = [*machine.run()[:-1], str(home)]
    async with machine.started(command) as daemon:
        await daemon.says("daemon.ready")
        os.kill(daemon.pid, signal.SIGTERM)
        assert await daemon.left() == 0
    lines = [json.loads(line) for line in daemon.lines]
    events = [line["event"] for line in lines]
    assert events == ["daemon.ready", "daemon.stopping", "daemon.stopped"]
    assert lines[0]["home"] == str(Path(machine.sandbox.root, "[struck out]"))
    assert (home / "log.db").exists()


async def test_a_gateway_that_cannot_open_is_told_in_one_line_and_nothing_starts(
    machine: Machine,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = await machine.ran(*machine.run(), env={ANY_PORT: str(port)})
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"gateway: 127.0.0.1:{port} cannot be listened on (Address already in use); "
        "choose another gateway.port, or set gateway.enabled = false\n"
    )
    (machine.home / "gateway.token").write_text("too short")
    ran = await machine.ran(*machine.run())
    assert (ran.code, ran.out) == (2, "")
    assert "holds no token of 32 characters or more" in ran.err
    assert "too short" not in ran.err


async def test_clients_that_stay_connected_do_not_hold_up_a_stop(machine: Machine) -> None:
    async with machine.started(machine.run()) as daemon:
        await daemon.says("daemon.ready")
        url = (machine.home / ADDRESS).read_text().strip()
        token = (machine.home / FILE).read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE) as http,
            http.stream("GET", "/api/v1/events?after=0") as stream,
        ):
            lines = stream.aiter_lines()
            assert await anext(lines) == "event: stream.opened"
            os.kill(daemon.pid, signal.SIGTERM)
            rest = [line async for line in lines]
        assert await daemon.left() == 0
    assert "event: stream.closed" in rest
    assert not (machine.home / ADDRESS).exists()
