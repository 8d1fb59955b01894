"""The chat plugin's five calls (D.3): names, parameters, shapes and sentences, word by word."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from claude_sessions.demo import ScriptedModel
from claude_sessions.gateway.methods import METHODS
from tests.gateway.port import Port, RpcError

LISTED = (
    "id name status prompt workdir model costUsd startedAt completedAt durationMs claudeSessionId"
    " foreground multiTurn display"
)
OUTPUT = "id name status costUsd durationMs duration lines lineCount result"
STATS = (
    "totalCostUsd costPerDay sessionsByStatus totalLaunched averageDurationMs mostExpensive display"
)
SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "sessions": ({}, "sessions count"),
    "launch": ({"prompt": "hello"}, "id name status workdir model"),
    "output": ({"session": "maker"}, OUTPUT),
    "stats": ({}, STATS),
    "kill": ({"session": "maker"}, "id name status message"),
}
PARAMETERS = {
    "sessions": {"status"},
    "launch": {
        *("prompt", "name", "workdir", "model", "maxBudgetUsd", "systemPrompt", "allowedTools"),
        *("resumeSessionId", "forkSession", "multiTurnDisabled", "originChannel"),
    },
    "kill": {"session", "id"},
    "output": {"session", "id", "lines", "full"},
    "stats": set(),
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "sessions": {"status": "all"},
    "launch": {"forkSession": False, "multiTurnDisabled": False},
    "output": {"lines": 50, "full": False},
}


async def test_results_have_exactly_the_seeds_fields(port: Port) -> None:
    await port.call("claude-code.launch", prompt="hello", name="maker")
    await port.chat.idle("maker")
    for name, (params, fields) in SHAPES.items():
        told = await port.call(f"claude-code.{name}", **params)
        assert set(told) == set(fields.split()), name
        if name == "sessions":
            assert set(told["sessions"][0]) == set(LISTED.split())
    for session in (await port.call("claude-code.sessions"))["sessions"]:
        await port.call("claude-code.kill", id=session["id"])


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_seeds_parameters_are_known_and_none_of_them_is_needed_that_was_not(name: str) -> None:
    schema = METHODS[f"claude-code.{name}"].params.model_json_schema(by_alias=True)
    assert set(schema["properties"]) >= PARAMETERS[name]
    assert schema.get("required", []) == (["prompt"] if name == "launch" else [])
    for parameter, default in DEFAULTS.get(name, {}).items():
        assert schema["properties"][parameter]["default"] == default


async def test_what_a_launch_says_is_what_the_session_gets(
    port: Port, workdir: Path, model: ScriptedModel
) -> None:
    (workdir / "inner").mkdir()
    given: dict[str, Any] = {
        "workdir": str(workdir / "inner"),
        "model": "haiku",
        "maxBudgetUsd": 2,
        "systemPrompt": "Be terse.",
        "allowedTools": ["Bash(ls)"],
        "multiTurnDisabled": True,
    }
    made = await port.call("claude-code.launch", prompt="hello", name="once", **given)
    assert (made["workdir"], made["model"]) == (given["workdir"], "haiku")
    assert "Be terse." in (await model.asked("hello")).system
    state = await port.chat.ended("once")
    spec = state.spec
    assert (spec.budget_usd, spec.allowed_tools, spec.once) == (2, ("Bash(ls)",), True)
    assert (await port.call("claude-code.sessions"))["sessions"][0]["multiTurn"] is False


async def test_each_field_of_a_listed_session_is_true(port: Port, workdir: Path) -> None:
    began = time.time() * 1000
    made = await port.call("claude-code.launch", prompt="hello", name="maker", model="haiku")
    await port.chat.idle("maker")
    await port.chat.type("/fg maker")
    state = await port.chat.state("maker")
    (listed,) = (await port.call("claude-code.sessions", status="running"))["sessions"]
    assert began - 1000 < listed["startedAt"] < time.time() * 1000
    assert listed["display"].startswith(f"🟢 maker [{made['id']}] (")
    assert listed["durationMs"] > 0
    assert listed["costUsd"] == state.cost_usd > 0
    exact = {
        "id": made["id"],
        "name": "maker",
        "status": "running",
        "prompt": "hello",
        "workdir": str(workdir),
        "model": "haiku",
        "claudeSessionId": state.claude_id,
        "completedAt": None,
        "foreground": True,
        "multiTurn": True,
    }
    assert listed | exact == listed
    await port.call("claude-code.kill", session="maker")
    (listed,) = (await port.call("claude-code.sessions"))["sessions"]
    assert listed["status"] == "killed"
    assert listed["startedAt"] < listed["completedAt"] < time.time() * 1000


async def test_a_result_is_there_once_the_session_has_ended(port: Port) -> None:
    await port.call("claude-code.launch", prompt="one", name="maker")
    await port.chat.idle("maker")
    await port.call("claude-code.respond", session="maker", message="two")
    state = await port.chat.until("maker", lambda s: s.blocks == 2)
    told = await port.call("claude-code.output", session="maker", lines=1)
    assert (told["lines"], told["lineCount"], told["result"]) == (["You said: two"], 1, None)
    assert re.fullmatch(r"\d+s", told["duration"])
    assert told["durationMs"] > 0
    await port.chat.idle("maker")
    killed = await port.call("claude-code.kill", id=state.id)
    assert (killed["id"], killed["name"]) == (state.id, "maker")
    assert "maker" in killed["message"]
    told = await port.call("claude-code.output", id=state.id, full=True)
    assert told["lines"] == ["You said: one", "You said: two"]
    assert told["result"] == "You said: two"
    assert told["costUsd"] == (await port.chat.state("maker")).cost_usd > 0


async def test_the_figures_are_those_of_what_was_launched(port: Port) -> None:
    for name in ("one", "two"):
        await port.call("claude-code.launch", prompt="hello", name=name)
        await port.chat.idle(name)
    await port.call("claude-code.kill", session="one")
    told = await port.call("claude-code.stats")
    assert set(told["sessionsByStatus"]) == {"completed", "failed", "killed", "running"}
    assert (told["sessionsByStatus"]["killed"], told["sessionsByStatus"]["running"]) == (1, 1)
    assert told["totalLaunched"] == 2
    assert told["averageDurationMs"] > 0
    assert sum(told["costPerDay"].values()) == pytest.approx(told["totalCostUsd"])
    assert set(told["mostExpensive"]) == {"id", "name", "costUsd", "prompt"}


async def test_ended_already_is_no_error(port: Port) -> None:
    await port.call("claude-code.launch", prompt="hello", name="maker")
    await port.chat.idle("maker")
    first = await port.call("claude-code.kill", session="maker")
    again = await port.call("claude-code.kill", session="maker")
    assert first["status"] == again["status"] == "killed"


@pytest.mark.parametrize(
    ("call", "params", "sentence"),
    [
        ("launch", {}, "Missing required parameter: prompt"),
        ("launch", {"prompt": ""}, "Missing required parameter: prompt"),
        ("launch", {"prompt": " \n"}, "Missing required parameter: prompt"),
        ("launch", {"prompt": None}, "Missing required parameter: prompt"),
        ("kill", {}, "Missing required parameter: session (name or ID)"),
        ("output", {}, "Missing required parameter: session (name or ID)"),
        ("kill", {"session": "x y"}, 'Session "x y" not found'),
        ("output", {"id": "nobody"}, 'Session "nobody" not found'),
        ("launch", {"prompt": "x", "resumeSessionId": "nobody"}, 'Session "nobody" not found'),
        ("events", {"session": "nobody"}, 'Session "nobody" not found'),
    ],
)
async def test_its_sentences(port: Port, call: str, params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RpcError) as refused:
        await port.call(f"claude-code.{call}", **params)
    assert refused.value.message == sentence


async def test_null_is_the_same_as_nothing(port: Port) -> None:
    nulls = dict.fromkeys(PARAMETERS["launch"] - {"prompt"})
    made = await port.call("claude-code.launch", prompt="hello", **nulls)
    await port.chat.idle(made["id"])
    told = await port.call("claude-code.output", id=made["id"], session=None, lines=None, full=None)
    assert told["lines"] == ["You said: hello"]
    assert (await port.call("claude-code.sessions", status=None))["count"] == 1


@pytest.mark.parametrize(
    "kept",
    [
        {"systemPrompt": "x"},
        {"allowed_tools": ["Read"]},
        {"multiTurnDisabled": True},
        {"originChannel": "telegram|1"},
    ],
)
async def test_what_a_resumed_session_keeps_is_not_passed_over(
    port: Port, kept: dict[str, Any]
) -> None:
    await port.call("claude-code.launch", prompt="one", name="maker")
    await port.chat.idle("maker")
    with pytest.raises(RpcError, match="A session keeps what it was begun with") as refused:
        await port.call("claude-code.launch", prompt="more", resumeSessionId="maker", **kept)
    assert refused.value.code == -32602


async def test_the_one_touched_last_is_listed_first(port: Port) -> None:
    for name in ("one", "two", "three"):
        await port.call("claude-code.launch", prompt="hello", name=name)
        await port.chat.idle(name)
    await port.call("claude-code.kill", session="two")
    await port.call("claude-code.respond", session="one", message="more")
    await port.chat.idle("one")
    listed = (await port.call("claude-code.sessions"))["sessions"]
    assert [each["name"] for each in listed] == ["one", "two", "three"]


async def test_what_is_resumed_by_name_id_or_claudes_id_goes_on(port: Port) -> None:
    made = await port.call("claude-code.launch", prompt="one", name="maker")
    state = await port.chat.idle("maker")
    for n, ref in enumerate((made["id"], "maker", state.claude_id)):
        await port.call("claude-code.kill", session="maker")
        again = await port.call("claude-code.launch", prompt=f"more {n}", resume_session_id=ref)
        assert again["id"] == made["id"]
        await port.chat.idle("maker")
    forked = await port.call(
        "claude-code.launch", prompt="other", resumeSessionId="maker", forkSession=True
    )
    assert forked["id"] != made["id"]
    await port.chat.idle(forked["id"])
