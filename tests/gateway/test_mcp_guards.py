"""What has to hold before an agent may launch; each refusal says how to repair it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claude_sessions.demo import Sandbox, ScriptedModel
from claude_sessions.model import Role
from tests.gateway.mcp import Refusal, agent
from tests.gateway.port import Port, RpcError, opened
from tests.waiting import eventually

LASTING = (
    "/config permissionMode=auto",
    "/settings theme=dark",
    "  /autocompact 200000",
    "/output-style Concise",
    "/heapdump",
)


async def test_a_directory_that_is_not_allowed_is_refused_with_where_to_allow_it(
    port: Port, tmp_path: Path
) -> None:
    async with agent(port) as one:
        with pytest.raises(Refusal, match=r"outside the allowed .*\n.*\[sessions\] workdirs"):
            await one.use("launch", prompt="x", workdir=str(tmp_path))
        assert await one.use("sessions") == "No sessions."


async def test_without_any_channel_it_works_out_of_the_box(port: Port) -> None:
    async with agent(port) as one:
        assert "No chat hears of it" in await one.use("launch", prompt="hello", name="maker")
    assert (await port.chat.state("maker")).origin == "unknown"
    await port.chat.idle("maker")


async def test_a_channel_that_was_asked_for_hears_of_it(port: Port) -> None:
    async with agent(port) as one:
        told = await one.use("launch", prompt="hello", name="m", origin_channel="memory|owner")
        assert "People hear of it at memory|owner." in told
    assert (await port.chat.state("m")).origin == "memory|owner"
    await port.chat.idle("m")


async def test_a_channel_that_nobody_reads_is_refused(port: Port) -> None:
    async with agent(port) as one:
        for channel in ("telegram|123", "mcp|somebody", "12345"):
            with pytest.raises(Refusal, match="cannot be reached from here"):
                await one.use("launch", prompt="x", origin_channel=channel)


async def test_where_a_channel_is_required_one_has_to_be_there(
    sandbox: Sandbox, workdir: Path
) -> None:
    required = {"require_channel": True}
    async with opened(sandbox, workdir, mcp=required) as port, agent(port) as one:
        with pytest.raises(Refusal, match=r"No person would hear .*\[channels\] fallback"):
            await one.use("launch", prompt="x")
        await one.use("launch", prompt="x", name="m", origin_channel="memory|owner")
        await port.chat.idle("m")
        await one.use("kill", session="m")
        await one.use("launch", prompt="x", resume_session_id="m")
        await port.chat.idle("m")


async def test_the_configured_channel_of_a_directory_satisfies_it(
    sandbox: Sandbox, workdir: Path
) -> None:
    more: dict[str, Any] = {
        "mcp": {"require_channel": True},
        "channels": {"workdirs": {str(workdir): "memory|owner"}},
        "orchestrator": {"webhook_url": "http://127.0.0.1:9/hooks/wake"},
    }
    async with opened(sandbox, workdir, **more) as port, agent(port) as one:
        await one.use("launch", prompt="x", name="m")
        assert (await port.chat.state("m")).origin == "memory|owner"
        await port.chat.idle("m")


async def test_a_session_keeps_what_it_began_with(port: Port) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="x", name="m")
        await port.chat.idle("m")
        for name, value in (
            ("origin_channel", "memory|owner"),
            ("system_prompt", "Be terse."),
            ("allowed_tools", ["Bash(ls)"]),
            ("multi_turn_disabled", True),
        ):
            with pytest.raises(Refusal, match=f"leave {name} out"):
                await one.use("launch", prompt="y", resume_session_id="m", **{name: value})


async def test_the_autonomy_note_is_in_what_the_session_is_told(
    sandbox: Sandbox, workdir: Path, model: ScriptedModel
) -> None:
    note = sandbox.root / "note.md"
    note.write_text("# Autonomy\n\nNever push to main.\n")
    settings = {"autonomy_note": str(note)}
    async with opened(sandbox, workdir, mcp=settings) as port, agent(port) as one:
        await one.use("launch", prompt="hello", name="m", system_prompt="Be terse.")
        request = await model.asked("hello")
        assert "Be terse." in request.system
        assert "Never push to main." in request.system
        await port.chat.idle("m")
        await port.chat.type("/new --name own hi there")
        request = await model.asked("hi there")
        assert "Never push to main." not in request.system
        await port.chat.idle("own")


@pytest.mark.parametrize(
    ("text", "problem"),
    [(None, "does not exist"), ("# Autonomy\n\n  \n", "is empty"), ("x" * 70_000, "more than")],
)
async def test_a_note_that_says_nothing_launches_nothing(
    sandbox: Sandbox, workdir: Path, text: str | None, problem: str
) -> None:
    note = sandbox.root / "note.md"
    if text is not None:
        note.write_text(text)
    settings = {"autonomy_note": str(note)}
    async with opened(sandbox, workdir, mcp=settings) as port, agent(port) as one:
        with pytest.raises(Refusal, match=f"autonomy note .* {problem}"):
            await one.use("launch", prompt="hello")
        assert await one.use("sessions") == "No sessions."


async def test_a_person_at_another_door_is_not_guarded(sandbox: Sandbox, workdir: Path) -> None:
    settings = {"autonomy_note": str(sandbox.root / "none"), "require_channel": True}
    async with opened(sandbox, workdir, mcp=settings) as port:
        await port.call("claude-code.launch", prompt="hello", name="m")
        await port.chat.idle("m")


async def test_a_full_pool_is_told_in_the_seeds_words(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, sessions={"max_sessions": 1}) as port, agent(port) as one:
        await port.chat.type("/new --name busy hello")
        await port.chat.working("busy")
        with pytest.raises(Refusal, match=r"^Max sessions reached \(1\). Kill a session first\.$"):
            await one.use("launch", prompt="x")
        await port.chat.idle("busy")


async def test_no_agent_takes_a_session_out_of_plan_mode(port: Port) -> None:
    token = await port.scoped(Role.PROMPTER)
    await port.chat.type("/new --name planner --mode plan hello")
    await port.chat.idle("planner")
    async with agent(port) as one:
        for _ in range(2):  # while it lives, and once it is killed
            for fork in (False, True):
                with pytest.raises(Refusal, match="planner is in plan: only a person may set it"):
                    await one.use(
                        "launch",
                        prompt="do it",
                        resume_session_id="planner",
                        fork_session=fork,
                        permission_mode="default",
                    )
            await one.use("kill", session="planner")
        line = "/resume planner --mode default do it"
        with pytest.raises(RpcError, match="You may not change a session's mode"):
            await port.call("claude-code.chat", token=token, line=line)
        told = await one.use("launch", prompt="go on", resume_session_id="planner")
        assert "permissions plan" in told
    await port.chat.idle("planner")


async def test_no_agent_changes_what_claude_may_do_elsewhere(port: Port, sandbox: Sandbox) -> None:
    async with agent(port) as one:
        await one.use("launch", prompt="hello", name="maker")
        await port.chat.idle("maker")
        for words in LASTING:
            with pytest.raises(Refusal, match="reaches beyond this session: only an admin may"):
                await one.use("respond", session="maker", message=words)
            with pytest.raises(Refusal, match="only an admin may"):
                await one.use("launch", prompt=words)
        await one.use("kill", session="maker")
        for fork in (False, True):
            with pytest.raises(Refusal, match="only an admin may"):
                await one.use(
                    "launch", prompt=LASTING[0], resume_session_id="maker", fork_session=fork
                )
    assert not (sandbox.home / ".claude" / "settings.json").exists()


async def test_nor_does_a_person_who_only_talks(port: Port, sandbox: Sandbox) -> None:
    token = await port.scoped(Role.APPROVER)
    settings = sandbox.home / ".claude" / "settings.json"
    await port.chat.type("/new --name maker hello")
    await port.chat.idle("maker")
    for method, params in (
        ("respond", {"session": "maker", "message": LASTING[0]}),
        ("launch", {"prompt": LASTING[0]}),
        ("schedules.add", {"when": "0 9 * * *", "prompt": LASTING[0]}),
    ):
        with pytest.raises(RpcError, match="-32003 /config reaches beyond this session"):
            await port.call(f"claude-code.{method}", token=token, **params)
    assert not settings.exists()
    await port.chat.type("/say maker /config theme=dark")
    await eventually(settings.exists)
    await port.chat.idle("maker")
