"""Bad input gets one clear sentence; the daemon lives on and nothing half-made remains."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from claude_sessions.demo import Sandbox, Script, say
from claude_sessions.model import Status
from tests.journeys.chat import Chat, chatting, settings_for


async def nothing_remains(chat: Chat) -> bool:
    assert not chat.daemon.manager.live()
    assert not psutil.Process().children(recursive=True)
    return "No sessions" in await chat.type("/sessions")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/new " + "x" * 5_000_000, "file"),
        ("/new \x00\x01\x02 junk", "file"),
        ("/new", "Usage: /new"),
        ("/new --name UPPER hello", "cannot be a name"),
        ("/new --name 'a b' hello", "cannot be a name"),
        ("/new --dir /etc hello", "outside the allowed directories"),
        ("/new --dir nowhere hello", "does not exist"),
        ("/new --dir file hello", "not a directory"),
        ("/new --dir ../.. hello", "outside the allowed directories"),
        ("/new --budget minus hello", "Usage: /new"),
        ("/new --mode frantic hello", "Usage: /new"),
        ("/new --frobnicate hello", "Usage: /new"),
        ("/new --allow 'Bash(' hello", "Bash("),
        ("/say nobody hello", 'Session "nobody" not found'),
        ("/kill nobody", 'Session "nobody" not found'),
        ("/resume nobody", 'Session "nobody" not found'),
        ("/allow nothing", "Nothing waits under nothing"),
        ("/frobnicate", "/help"),
    ],
)
async def test_a_bad_line_says_what_is_wrong(
    line: str, said: str, chat: Chat, workdir: Path
) -> None:
    (workdir / "file").write_text("")
    assert said in await chat.type(line)
    assert await nothing_remains(chat)


async def test_a_link_out_of_the_allowed_directories_is_followed_and_refused(
    chat: Chat, workdir: Path
) -> None:
    (workdir / "out").symlink_to("/etc")
    assert "outside the allowed" in await chat.type("/new --dir out hello")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("#!/bin/sh\necho 'it is broken' >&2\nexit 3\n", "it is broken"),
        ("#!/bin/sh\nexit 0\n", "could not be started"),
        (None, "cannot be run"),
    ],
)
async def test_a_cli_that_cannot_run_fails_the_session_with_its_reason(
    program: str | None, said: str, sandbox: Sandbox, workdir: Path, tmp_path: Path
) -> None:
    path = tmp_path / "fake-claude"
    if program is not None:
        path.write_text(program)
        path.chmod(0o755)
    settings = settings_for(workdir, cli_path=str(path))
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name a hello")
        state = await chat.ended("a")
        assert state.status is Status.FAILED
        assert said in state.message
        await chat.shown(lambda n: said in n.text)
        assert not chat.daemon.manager.live()


async def test_a_cli_that_is_too_old_is_refused_with_the_remedy(
    sandbox: Sandbox, workdir: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old-claude"
    real = sandbox.cli("real")
    older = r's/"claude_code_version":"[^"]*"/"claude_code_version":"2.0.1"/'
    old.write_text(f"#!/bin/sh\n{real} \"$@\" | sed -u '{older}'\n")
    old.chmod(0o755)
    settings = settings_for(workdir, cli_path=str(old))
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.type("/new --name a hello")
        state = await chat.ended("a")
        assert "too old" in state.message


async def test_nobody_logged_in_is_said_with_the_remedy(sandbox: Sandbox, workdir: Path) -> None:
    bare = Sandbox(sandbox.root, sandbox.model_url, extra={"ANTHROPIC_API_KEY": ""})
    async with chatting(bare, workdir) as chat:
        await chat.type("/new --name a hello")
        shown = await chat.shown(lambda n: "log in" in n.text)
        assert "a" in shown.name


async def test_a_prompt_of_nearly_a_megabyte_passes(script: Script, chat: Chat) -> None:
    script.on("long", say("Read."))
    await chat.type("/new --name big " + "long " * 150_000)
    assert (await chat.idle("big")).blocks == 1
