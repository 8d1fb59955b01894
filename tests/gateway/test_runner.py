"""The runner's events and contract (specs/runner-and-hub.md, C.1 to C.3), field by field."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from claude_sessions.demo import Script, bash, say
from claude_sessions.gateway import openapi
from claude_sessions.sessions.beginnings import project_id
from tests.gateway.ear import listening
from tests.gateway.port import Port

C1 = "id seq type ts sessionId projectId runnerId mode payload"
C2 = {  # of those that there are without terminals and a hub
    "session.created": "projectId mode",
    "session.forked": "fromSessionId fromSeq",
    "session.ended": "reason",
    "user.message": "text",
    "assistant.message": "text inputTokens outputTokens",
    "tool.requested": "toolName toolUseId input",
    "approval.requested": "toolName toolUseId input permissionMode",
    "approval.resolved": "toolUseId decision scope",
    "tool.output": "toolUseId content isError",
    "tool.completed": "toolUseId durationMs",
    "slash.invoked": "command args",
    "slash.result": "command output isError",
}
C3 = {  # each operation: its status, and what it is given
    "GET /projects": (200, "search"),
    "POST /projects": (201, "path"),
    "GET /projects/{id}/sessions": (200, "status limit cursor"),
    "POST /projects/{id}/sessions": (201, "mode title forkFromSnapshot"),
    "DELETE /sessions/{id}": (204, ""),
    "POST /sessions/{id}/send": (202, "content attachments"),
    "POST /sessions/{id}/slash": (202, "command args"),
    "POST /sessions/{id}/approve": (
        200,
        "approvalId toolUseId decision persist scope modifiedArgs modifiedInput",
    ),
    "POST /sessions/{id}/mode": (200, "mode ptyOptions"),
    "GET /sessions/{id}/timeline": (200, "after_seq limit types"),
    "GET /plugins/installed": (200, ""),
    "POST /plugins/install": (200, "package"),
    "POST /plugins/update": (200, "name"),
    "POST /plugins/uninstall": (200, "name"),
    "POST /plugins/enable": (200, "name scope"),
    "POST /plugins/disable": (200, "name"),
    "GET /plugins/marketplaces": (200, ""),
    "POST /plugins/marketplaces/add": (201, "url"),
    "GET /mcp/servers": (200, ""),
    "POST /mcp/servers": (201, "name transport config"),
    "DELETE /mcp/servers/{name}": (200, ""),
    "POST /mcp/servers/{name}/auth": (200, ""),
    "GET /health": (200, ""),
}
PAGES = {"/projects/{id}/sessions": (50, 100), "/sessions/{id}/timeline": (50, 200)}
NEEDED = {
    "/projects": {"path"},
    "/projects/{id}/sessions": set(),
    "/sessions/{id}/send": {"content"},
    "/sessions/{id}/slash": {"command"},
    "/sessions/{id}/approve": {"decision"},
    "/sessions/{id}/mode": {"mode"},
    "/plugins/install": {"package"},
    "/plugins/enable": {"name"},
    "/plugins/marketplaces/add": {"url"},
    "/mcp/servers": {"name", "transport", "config"},
}


async def test_all_that_happens_is_told_in_the_runners_envelope_and_fields(
    port: Port, script: Script, workdir: Path
) -> None:
    script.on("make it", bash("touch made"), say("Made."))
    made = await port.call("claude-code.launch", prompt="make it", name="maker")
    await port.chat.type(f"/allow {(await port.chat.asked('maker')).id}")
    await port.chat.idle("maker")
    await port.chat.type("/say maker /compact briefly")
    await port.chat.until("maker", lambda state: state.turns == 2 and state.turn is None)
    await port.call("claude-code.fork", session="maker", prompt="aside", name="other")
    await port.chat.idle("other")
    for name in ("maker", "other"):
        await port.call("claude-code.kill", session=name)
    events = (await port.call("claude-code.events", limit=1000))["events"]
    known = [event for event in events if event["type"] in C2]
    assert {event["type"] for event in known} == set(C2)
    for event in known:
        assert set(C1.split()) <= set(event), event["type"]
        assert set(C2[event["type"]].split()) <= set(event["payload"]), event["type"]
        assert datetime.fromisoformat(event["ts"]).tzinfo is not None
        assert event["projectId"] == project_id(str(workdir))
        assert event["mode"] == "sdk"
    own = [event["seq"] for event in events if event.get("sessionId") == made["id"]]
    assert own == list(range(1, len(own) + 1))
    tool = ("tool.requested", "approval.requested", "approval.resolved", "tool.output")
    of_it = [event for event in known if event["type"] in (*tool, "tool.completed")]
    assert len({event["payload"]["toolUseId"] for event in of_it}) == 1
    assert len({event["correlationId"] for event in of_it}) == 1


async def test_words_as_they_come_are_its_deltas(port: Port) -> None:
    async with listening(port) as ear:
        await ear.call("claude-code.subscribe", signals=True, types=["assistant.delta"])
        await port.call("claude-code.launch", prompt="hello", name="talker")
        said = ""
        while said != "You said: hello":
            payload = (await ear.until("assistant.delta"))["payload"]
            assert payload["offset"] == payload["seq"] == len(said)
            said += payload["delta"]
    await port.chat.idle("talker")


@pytest.mark.parametrize("operation", C3)
def test_the_contracts_operations_take_what_it_says_and_answer_with_its_status(
    operation: str,
) -> None:
    method, path = operation.split()
    status, names = C3[operation]
    found = described(method, path)
    given = {each["name"] for each in found.get("parameters", ()) if each["in"] == "query"}
    assert set(names.split()) <= given | set(body(found).get("properties", {}))
    assert [code for code in found["responses"] if code < "300"] == [str(status)]
    if method == "POST" and path in NEEDED:
        assert set(body(found).get("required", ())) == NEEDED[path]


@pytest.mark.parametrize("path", PAGES)
def test_its_pages_are_as_long_as_it_says(path: str) -> None:
    (limit,) = [each for each in described("GET", path)["parameters"] if each["name"] == "limit"]
    assert (limit["schema"]["default"], limit["schema"]["maximum"]) == PAGES[path]


def described(method: str, path: str) -> Any:
    return openapi.document()["paths"][f"/api/v1{path}"][method.lower()]


def body(operation: Any) -> Any:
    if "requestBody" not in operation:
        return {}
    ref = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    return openapi.document()["components"]["schemas"][ref.rpartition("/")[2]]
