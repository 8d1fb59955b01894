"""Files of a session, where there is no chat to send them to."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.commands import Command, GetFile, Reply
from claude_sessions.demo import Sandbox, Script
from claude_sessions.errors import Conflict
from claude_sessions.model import Role
from claude_sessions.people import Caller
from claude_sessions.telegram.parcels import Parcels
from tests.journeys.chat import Chat, chatting


async def test_in_a_terminal_it_says_where_the_file_lies(chat: Chat, workdir: Path) -> None:
    (workdir / "report.txt").write_text("x" * 4200)
    await chat.type("/new --fg --name first hello")
    told = await chat.type("/get report.txt")
    assert told.startswith("first: report.txt · 4 KB\nIt lies at ")
    assert told.endswith("work/report.txt")


async def test_nothing_of_the_programs_own_is_given(
    script: Script, sandbox: Sandbox, tmp_path: Path
) -> None:
    async with chatting(sandbox, tmp_path) as chat:  # its home lies inside the allowed directory
        await chat.type("/new --fg --name first hello")
        assert "belongs to claude-sessions itself" in await chat.type("/get state/log.db")


async def test_who_may_only_watch_is_given_nothing(chat: Chat, workdir: Path) -> None:
    (workdir / "report.txt").write_text("x")
    await chat.type("/new --fg --name first hello")
    assert "You may not get files" in await chat.somebody(Role.VIEWER).type("/get first report.txt")


async def test_a_file_that_was_replaced_after_it_was_judged_is_not_sent(tmp_path: Path) -> None:
    asked, other = tmp_path / "asked", tmp_path / "other"
    asked.write_text("harmless")
    other.write_text("secret")
    judged = asked.stat()

    async def perform(command: Command, caller: Caller) -> Reply:
        asked.unlink()
        other.rename(asked)
        return Reply(text="", data={"file": str(asked), "inode": (judged.st_dev, judged.st_ino)})

    caller = Caller(name="owner", role=Role.ADMIN, door="test")
    packed = Parcels(tmp_path / "outgoing").packing(perform)
    with pytest.raises(Conflict, match="was replaced just now"):
        await packed(GetFile(session="s", path="asked"), caller)
    assert not list((tmp_path / "outgoing").iterdir())
