"""The seed's eight tools, used by the mcp package's own client."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from claude_sessions.demo import Gate, Script, ScriptedModel, say
from claude_sessions.gateway.mcp.tools import TOOLS
from tests.gateway.mcp import Refusal, agent
from tests.gateway.port import Port

RULE = "─" * 60

D1 = {  # of the seed: each tool, its parameters and their defaults
    "claude_launch": {
        "prompt": ...,
        "name": None,
        "workdir": None,
        "model": None,
        "max_budget_usd": None,
        "system_prompt": None,
        "allowed_tools": [],
        "resume_session_id": None,
        "fork_session": False,
        "multi_turn_disabled": False,
        "permission_mode": None,
        "origin_channel": None,
    },
    "claude_respond": {"session": ..., "message": ..., "interrupt": False, "userInitiated": False},
    "claude_fg": {"session": ..., "lines": 30},
    "claude_bg": {"session": None},
    "claude_kill": {"session": ...},
    "claude_output": {"session": ..., "lines": 50, "full": False},
    "claude_sessions": {"status": "all"},
    "claude_stats": {},
}


async def test_the_eight_tools_are_offered_with_the_seeds_parameters_and_defaults(
    port: Port,
) -> None:
    async with agent(port) as one:
        offered = (await one.client.list_tools()).tools
    found = {
        tool.name: {
            name: ... if name in tool.input_schema.get("required", ()) else schema["default"]
            for name, schema in tool.input_schema.get("properties", {}).items()
        }
        for tool in offered
    }
    assert found == D1


async def test_each_parameter_says_what_it_is_for() -> None:
    for tool in TOOLS.values():
        for schema in tool.schema.get("properties", {}).values():
            assert schema["description"]


async def test_a_launch_is_told_in_the_seeds_layout(port: Port) -> None:
    async with agent(port) as one:
        told = await one.use("launch", prompt="say  something long " + "x" * 90, name="maker")
    state = await port.chat.state("maker")
    assert told.splitlines()[:8] == [
        "Session launched.",
        "  Name: maker",
        f"  ID: {state.id}",
        f"  Dir: {state.spec.directory}",
        "  Model: default",
        f'  Prompt: "{("say something long " + "x" * 90)[:79]}…"',
        "  Mode: multi-turn, permissions default",
        "",
    ]
    assert 'claude_output(session="maker")' in told.splitlines()[8]
    assert "No chat hears of it" in told


async def test_a_session_is_resumed_and_forked_by_its_name(
    port: Port, model: ScriptedModel
) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker", model="haiku")
        await port.chat.idle("maker")
        await one.use("kill", session="maker")
        told = await one.use("launch", prompt="and on", resume_session_id="maker")
        assert told.startswith("Session resumed.\n  Name: maker\n")
        assert "\n  Resume: maker\n" in told
        assert "\n  Model: haiku\n" in told
        await port.chat.idle("maker")
        assert "\n   ↩️ Resumed from " in await one.use("sessions")
        forked = await one.use(
            "launch", prompt="aside", resume_session_id="maker", fork_session=True, name="other"
        )
        assert "\n  Name: other\n" in forked
        assert "\n  Resume: maker (forked)\n" in forked
    request = await model.asked("aside")
    assert "and on" in str(request.messages)


async def test_what_a_launch_says_is_what_the_session_gets(port: Port, workdir: Path) -> None:
    (inner := workdir / "inner").mkdir()
    async with agent(port) as one:
        await one.use(
            "launch",
            prompt="hello",
            name="maker",
            workdir=str(inner),
            max_budget_usd=2,
            permission_mode="plan",
        )
    spec = (await port.chat.idle("maker")).spec
    assert (spec.directory, spec.budget_usd, spec.mode.value) == (str(inner), 2, "plan")


async def test_a_session_of_one_turn_ends_with_it(port: Port) -> None:
    async with agent(port) as one:
        told = await one.use("launch", prompt="hello", name="once", multi_turn_disabled=True)
        assert "  Mode: single-turn" in told
        assert "claude_respond" not in told
        await port.chat.ended("once")


async def test_what_a_session_said_is_told_in_the_seeds_layout(port: Port) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await port.chat.idle("maker")
        await one.use("respond", session="maker", message="more")
        await port.chat.until("maker", lambda s: s.blocks == 2)
        state = await port.chat.idle("maker")
        header, rule, *lines = (await one.use("output", session="maker")).splitlines()
        header_layout = rf"Session: maker \[{state.id}\] \| Status: RUNNING \| Duration: \d+s"
        assert re.fullmatch(header_layout, header)
        assert rule == RULE
        assert lines == ["You said: hello", "", "You said: more"]
        last = await one.use("output", session=state.id, lines=1)
        assert last.splitlines()[2:] == ["You said: more"]
        full = await one.use("output", session=state.id, lines=1, full=True)
        assert full.splitlines()[2:] == lines


async def test_who_has_said_nothing_yet_has_no_output_yet(port: Port, script: Script) -> None:
    gate = Gate()
    script.on("hello", gate, say("at last"))
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await gate.reached()
        told = await one.use("output", session="maker")
        gate.open()
        assert told.splitlines()[1:] == [RULE, "(no output yet)"]
        await port.chat.idle("maker")


async def test_a_session_that_is_not_there_is_named_so_that_it_can_be_read(port: Port) -> None:
    ref = f"\x1b[2J{'x' * 5000}"
    async with agent(port) as one:
        for tool, named in {
            "output": {"session": ref},
            "kill": {"session": ref},
            "respond": {"session": ref, "message": "hello"},
            "launch": {"resume_session_id": ref, "prompt": "hello"},
        }.items():
            with pytest.raises(Refusal, match=r'^Session "⟨U\+001B⟩\[2Jx{1,90}…" not found$'):
                await one.use(tool, **named)


async def test_whom_nobody_knows_is_not_found_in_the_seeds_words(port: Port) -> None:
    async with agent(port) as one:
        for tool in ("output", "fg", "bg", "kill"):
            with pytest.raises(Refusal, match=r'^Session "nobody" not found$'):
                await one.use(tool, session="nobody")
        with pytest.raises(Refusal, match=r'^Session "nobody" not found$'):
            await one.use("respond", session="nobody", message="hello")


async def test_a_message_reaches_a_session_and_wakes_one_that_sleeps(
    port: Port, model: ScriptedModel
) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await port.chat.idle("maker")
        await port.chat.type("/sleep maker")
        told = await one.use("respond", session="maker", message="good morning")
        assert "maker" in told
        assert "Auto-responds in a row: 1 of 10." in told
        await model.asked("good morning")
        await port.chat.idle("maker")


async def test_a_session_is_ended_once_and_then_has_ended_already(port: Port) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        state = await port.chat.idle("maker")
        told = await one.use("kill", session="maker")
        assert told.startswith(f"Session maker [{state.id}] has been terminated.\n")
        again = await one.use("kill", session="maker")
        assert again.startswith(f"Session maker [{state.id}] had already ended: killed.\n")


async def test_the_list_has_the_seeds_entries(port: Port) -> None:
    async with agent(port) as one:
        assert await one.use("sessions") == "No sessions."
        await one.use("launch", prompt="hello", name="maker")
        state = await port.chat.idle("maker")
        first, folder, prompt, claude = (await one.use("sessions")).splitlines()
        layout = rf"🟢 maker \[{state.id}\] \(\d+s\) — background, multi-turn"
        assert re.fullmatch(layout, first)
        assert folder == f"   📁 {state.spec.directory}"
        assert prompt == '   📝 "hello"'
        assert claude == f"   🔗 Claude ID: {state.claude_id}"
        assert "maker" in await one.use("sessions", status="running")
        assert await one.use("sessions", status="failed") == "No sessions."


async def test_the_figures_are_those_of_every_door(port: Port) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await port.chat.idle("maker")
        assert await one.use("stats") == await port.chat.type("/stats")


async def test_what_makes_no_sense_is_refused_in_a_sentence(port: Port) -> None:
    async with agent(port) as one:
        for tool, arguments, said in (
            ("launch", {}, "Missing required parameter: prompt"),
            ("launch", {"prompt": "x", "permission_mode": "yolo"}, "permission_mode"),
            ("launch", {"prompt": "x", "colour": "red"}, "colour"),
            ("output", {"session": "x", "lines": 0}, "lines"),
            ("sessions", {"status": "sleepy"}, "status"),
            ("dance", {}, "There is no tool 'claude_dance'"),
        ):
            with pytest.raises(Refusal, match=said):
                await one.use(tool, **arguments)


async def test_what_an_agent_did_is_told_apart_from_its_persons_deeds(port: Port) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
    state = await port.chat.idle("maker")
    (said,) = await port.daemon.log.tail_of(state.id, ("user.message",), 5)
    assert said.caller == "owner's agent (MCP)"
    assert (said.caused_by or "").startswith("mcp#")
