"""Agents do not talk among themselves for ever."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_sessions import events as e
from claude_sessions.demo import Sandbox
from claude_sessions.gateway.mcp.cap import in_a_row
from tests.gateway.mcp import Agent, Refusal, agent
from tests.gateway.port import Port, opened

FEW = {"max_auto_responds": 2}
LIMIT = r"^Auto-respond limit reached \(2 of 2\).*A person has to write to maker first"


async def says(one: Agent, message: str, **more: object) -> str:
    return await one.use("respond", session="maker", message=message, **more)


async def test_the_limit_holds_over_connections_until_a_person_writes(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with opened(sandbox, workdir, mcp=FEW) as port:
        async with agent(port) as one:
            await one.use("launch", prompt="hello", name="maker")
            assert "in a row: 1 of 2." in await says(one, "a")
        async with agent(port) as one:
            assert "in a row: 2 of 2." in await says(one, "b")
            with pytest.raises(Refusal, match=LIMIT):
                await says(one, "c")
        async with agent(port) as one:
            with pytest.raises(Refusal, match=LIMIT):
                await says(one, "d")
            await port.chat.type("/say maker go on")
            assert "in a row: 1 of 2." in await says(one, "e")
        await port.chat.idle("maker")


async def test_the_limit_holds_over_a_restart(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, mcp=FEW) as port, agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await says(one, "a")
        await says(one, "b")
        await port.chat.idle("maker")
    async with opened(sandbox, workdir, mcp=FEW) as port, agent(port) as one:
        with pytest.raises(Refusal, match=LIMIT):
            await says(one, "c")


async def test_to_claim_that_a_person_asked_lifts_nothing(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, mcp=FEW) as port, agent(port) as one:
        await port.chat.type("/new --name maker hello")
        await says(one, "a")
        await says(one, "b", userInitiated=True)
        with pytest.raises(Refusal, match=LIMIT):
            await says(one, "c", userInitiated=True)
        await port.chat.idle("maker")


async def test_to_resume_it_is_to_write_to_it(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, mcp=FEW) as port, agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await port.chat.idle("maker")
        for words in ("a", "b"):
            await one.use("kill", session="maker")
            await one.use("launch", prompt=words, resume_session_id="maker")
            await port.chat.idle("maker")
        await one.use("kill", session="maker")
        with pytest.raises(Refusal, match=LIMIT):
            await one.use("launch", prompt="c", resume_session_id="maker")


async def test_part_of_its_name_is_no_way_around_it(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, mcp=FEW) as port, agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await says(one, "a")
        await says(one, "b")
        await port.chat.idle("maker")
        with pytest.raises(Refusal, match=r'^Session "make" not found$'):
            await one.use("launch", prompt="c", resume_session_id="make")


async def test_nor_is_a_branch_of_it(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, mcp=FEW) as port, agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await says(one, "a")
        branch = {"resume_session_id": "maker", "fork_session": True}
        await port.chat.idle("maker")
        await one.use("launch", prompt="aside", name="branch", **branch)
        await says(one, "b")
        with pytest.raises(Refusal, match=LIMIT):
            await one.use("launch", prompt="c", **branch)
        await port.chat.idle("maker")
        await port.chat.idle("branch")


async def test_of_many_at_once_no_more_get_through(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, mcp=FEW) as port, agent(port) as one, agent(port) as two:
        await port.chat.type("/new --name maker hello")
        calls = [says(who, f"number {n}") for n in range(3) for who in (one, two)]
        told = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(each, str) for each in told) == 2
        await port.chat.idle("maker")


async def test_what_is_refused_is_not_said(port: Port) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        for count in range(10):
            assert f"in a row: {count + 1} of 10." in await says(one, f"number {count}")
        with pytest.raises(Refusal, match="10 of 10"):
            await says(one, "one too many")
    state = await port.chat.idle("maker")
    said = await port.daemon.log.tail_of(state.id, ("user.message",), 50)
    assert len(said) == 11


def test_the_daemons_own_words_neither_end_a_row_nor_prolong_it() -> None:
    said = ["owner (Telegram)", "a's agent (MCP)", None, "b's agent (MCP)"]
    assert in_a_row([message(caller) for caller in said]) == 2


def message(caller: str | None) -> e.Event:
    return e.Event(
        seq=1,
        epoch="e",
        id="i",
        at=datetime.now(UTC),
        runner="r",
        session="s",
        session_seq=1,
        project=None,
        run=None,
        turn=None,
        payload=e.UserMessage(message_id="m", text="x"),
        caller=caller,
    )
