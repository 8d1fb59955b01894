from __future__ import annotations

import socket
from pathlib import Path

import pytest

from claude_sessions.doctor import (
    Finding,
    examine,
    examine_directory,
    examine_gateway,
    examine_home,
    find_cli,
    read_version,
)
from claude_sessions.settings import GatewaySettings, SessionSettings, Settings


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A machine of its own: nothing of the real user, and nobody at the other end."""
    (tmp_path / "user").mkdir()
    return {
        "HOME": str(tmp_path / "user"),
        "PATH": "/usr/bin:/bin",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def settings(directory: Path, cli: Path | None = None) -> Settings:
    sessions = SessionSettings(default_workdir=directory, cli_path=cli)
    return Settings(sessions=sessions, gateway=GatewaySettings(port=0))


def program(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


async def findings(
    settings: Settings, home: Path, environ: dict[str, str], *, patience: float = 60
) -> dict[str, Finding]:
    found = await examine(settings, home, None, environ=environ, patience=patience)
    assert all(finding.ok != bool(finding.remedy) for finding in found)
    return {finding.name: finding for finding in found}


async def test_on_a_good_machine_all_is_well(tmp_path: Path, environ: dict[str, str]) -> None:
    found = await findings(settings(tmp_path), tmp_path, environ | {"ANTHROPIC_API_KEY": "sk-fake"})
    assert [finding.name for finding in found.values() if not finding.ok] == []
    assert found["claude"].detail.endswith(f" at {find_cli(settings(tmp_path))}")
    assert found["login"].detail == "by ANTHROPIC_API_KEY"
    assert found["configuration"].detail == "none, the defaults hold"
    assert found["tmux"].detail.endswith("/tmux")


async def test_without_a_key_claude_is_not_logged_in(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    login = (await findings(settings(tmp_path), tmp_path, environ))["login"]
    assert not login.ok
    assert "auth login" in login.remedy


async def test_a_key_that_sessions_would_not_get_does_not_count(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    sessions = SessionSettings(default_workdir=tmp_path, pass_env=("HOME", "PATH"))
    closed = Settings(sessions=sessions, gateway=GatewaySettings(port=0))
    found = await findings(closed, tmp_path, environ | {"ANTHROPIC_API_KEY": "sk-fake"})
    assert not found["login"].ok


@pytest.mark.parametrize(
    ("lines", "detail"),
    [
        (["echo '1.0.9 (Claude Code)'"], "1.0.9 at {cli} is older than"),
        (["echo hello"], "{cli} does not say its version"),
        (["exit 7"], "{cli} does not say its version"),
        (["exec sleep 600"], "{cli} --version took more than 0.5 s"),
    ],
)
async def test_a_program_that_will_not_do_is_told(
    tmp_path: Path, environ: dict[str, str], lines: list[str], detail: str
) -> None:
    cli = program(tmp_path / "claude", *lines)
    found = await findings(settings(tmp_path, cli), tmp_path, environ, patience=0.5)
    assert found["claude"].detail.startswith(detail.format(cli=cli))
    assert "sessions.cli_path" in found["claude"].remedy
    assert not found["login"].ok


async def test_a_missing_program_is_told(tmp_path: Path, environ: dict[str, str]) -> None:
    found = await findings(settings(tmp_path, tmp_path / "none"), tmp_path, environ)
    assert "cannot be run" in found["claude"].detail
    assert not found["login"].ok


async def test_missing_tools_and_the_configuration_read_are_told(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    cli, source = program(tmp_path / "claude", "echo {}"), tmp_path / "my.toml"
    found = await examine(
        settings(tmp_path, cli), tmp_path, source, environ=environ | {"PATH": str(tmp_path)}
    )
    assert Finding(name="configuration", ok=True, detail=str(source)) in found
    remedies = {finding.name: finding.remedy for finding in found}
    assert remedies["tmux"] == "Install it: sudo apt-get install tmux"
    assert remedies["setpriv"] == "Install it: sudo apt-get install util-linux"


def test_a_port_that_is_taken_is_told_unless_our_own_daemon_has_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        gateway = GatewaySettings(port=server.getsockname()[1])
        assert not examine_gateway(gateway, tmp_path).ok
        (tmp_path / "gateway.url").touch()
        assert examine_gateway(gateway, tmp_path).detail.endswith("the daemon runs")
    (tmp_path / "gateway.url").unlink()
    assert examine_gateway(gateway, tmp_path).detail.endswith("is free")
    assert examine_gateway(GatewaySettings(enabled=False), tmp_path).ok


def test_a_token_that_others_can_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "gateway.token").write_text("x" * 40)
    (tmp_path / "gateway.token").chmod(0o644)
    found = examine_gateway(GatewaySettings(port=0), tmp_path)
    assert (found.ok, "chmod 600" in found.detail) == (False, True)


def test_the_home_is_examined_and_not_made(tmp_path: Path) -> None:
    future, open_to_all = tmp_path / "a" / "b", tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o755)
    (tmp_path / "file").touch()
    assert examine_home(future).ok
    assert not future.parent.exists()
    assert examine_home(open_to_all).remedy == f"Run: chmod 700 {open_to_all}"
    assert not examine_home(tmp_path / "file").ok
    assert not examine_home(tmp_path / "file" / "below").ok


def test_a_directory_for_sessions_that_is_missing_is_told(tmp_path: Path) -> None:
    assert examine_directory(tmp_path).ok
    assert not examine_directory(tmp_path / "missing").ok


def test_a_version_is_read_from_what_the_program_says() -> None:
    assert read_version("2.1.326 (Claude Code)\n") == (2, 1, 326)
    assert read_version("none of your business") is None
