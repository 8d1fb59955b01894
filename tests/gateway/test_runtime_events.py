"""The runtime envelope, A.3: what is told, in which words and in which order."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from claude_sessions.demo import Gate, Script, bash, error, question, say, think, usage
from claude_sessions.events import SessionStarted
from claude_sessions.model import Status
from tests.gateway.envelope import Client, connected
from tests.gateway.port import Port

FIELDS = {
    "flow:start": "flowName",
    "flow:complete": "flowName status",
    "flow:paused": "",
    "flow:resumed": "",
    "flow:aborted": "",
    "node:start": "nodeId runId",
    "node:complete": "nodeId runId output",
    "node:error": "nodeId runId error",
    "state:patch": "patch",
    "command:received": "command",
    "agent:start": "nodeId runId sessionId prompt",
    "agent:thinking": "nodeId runId content",
    "agent:thinking:delta": "nodeId runId content",
    "agent:text": "nodeId runId content",
    "agent:text:delta": "nodeId runId content",
    "agent:tool": "nodeId runId toolName toolInput toolOutput durationMs",
    "agent:error": "nodeId runId errorType message",
    "agent:complete": "nodeId runId result usage modelUsage totalCostUsd durationMs numTurns",
    "agent:paused": "nodeId runId sessionId numTurns",
    "agent:aborted": "nodeId runId reason",
}
MAY_BE = {"agent:start": {"model"}, "agent:tool": {"error"}, "agent:error": {"details"}}


def told_exactly(client: Client) -> None:
    """Each has its fields, none is null, and the time is the last."""
    for event in client.heard:
        kind, *fields = event
        assert kind == "type"
        assert fields[-1] == "timestamp"
        assert type(event["timestamp"]) is int
        assert None not in event.values()
        wanted = set(FIELDS[event["type"]].split())
        assert wanted <= set(fields[:-1]) <= wanted | MAY_BE.get(event["type"], set())


async def test_a_turn_is_told_from_the_flow_s_start_to_the_agent_s_end(
    port: Port, script: Script
) -> None:
    script.on("greet", usage(input=90, output=7), say("Hello, ", "world."))
    async with connected(port) as client:
        await port.chat.type("/new --name maker --model sonnet greet me")
        done = await client.until("agent:complete")
        state = await port.chat.idle("maker")
        assert client.kinds() == [
            "flow:start",
            "node:start",
            "agent:start",
            "agent:text:delta",
            "agent:text",
            "agent:complete",
        ]
        told_exactly(client)
    flow, node, agent = client.heard[:3]
    assert flow["flowName"] == "maker"
    assert node["nodeId"] == state.id
    assert {e.get("runId") for e in client.heard[1:]} == {node["runId"]}
    assert (agent["sessionId"], agent["prompt"]) == (state.claude_id, "greet me")
    assert agent["model"] == "sonnet"
    pieces = [e["content"] for e in client.heard if e["type"] == "agent:text:delta"]
    assert "".join(pieces) == "Hello, world."
    assert done["result"] == "Hello, world."
    assert done["usage"] == {"inputTokens": 90, "outputTokens": 7}
    assert [set(used) for used in done["modelUsage"].values()] == [{"inputTokens", "outputTokens"}]
    assert done["numTurns"] == 1


async def test_a_thought_comes_in_pieces_and_whole(port: Port, script: Script) -> None:
    script.on("ponder", think("Let me see."), say("Yes."))
    async with connected(port) as client:
        await port.chat.type("/new --name a ponder")
        await client.until("agent:complete")
        told_exactly(client)
    assert client.kinds()[3:5] == ["agent:thinking:delta", "agent:thinking"]
    assert next(e for e in client.heard if e["type"] == "agent:thinking")["content"] == (
        "Let me see."
    )


async def test_a_tool_is_told_once_when_it_is_done(port: Port, script: Script) -> None:
    script.on("work", bash("echo done"), bash("echo no >&2; exit 3"), say("So."))
    async with connected(port) as client:
        await port.chat.type("/new --allow Bash --name a work")
        done = await client.until("agent:complete")
        told_exactly(client)
    good, bad = (e for e in client.heard if e["type"] == "agent:tool")
    assert (good["toolName"], good["toolInput"]["command"]) == ("Bash", "echo done")
    assert good["toolOutput"] == "done"
    assert "error" not in good
    assert "no" in bad["error"]
    assert "state:patch" not in client.types  # nobody was asked
    assert done["numTurns"] == 3


async def test_an_error_of_the_api_is_the_agent_s_and_the_flow_goes_on(
    port: Port, script: Script
) -> None:
    script.on("fail", error(400))
    async with connected(port) as client:
        await port.chat.type("/new --name a fail")
        failed = await client.until("agent:error")
        assert failed["details"]["isError"] is True
        await port.chat.type("/say a hello")
        await client.until("agent:complete")
        told_exactly(client)
    assert "flow:complete" not in client.types


async def test_a_single_turn_completes_its_node_and_its_flow(port: Port) -> None:
    async with connected(port) as client:
        await port.chat.type("/new --once --name a hello")
        done = await client.until("flow:complete")
        told_exactly(client)
    assert done["status"] == "complete"
    assert client.types[-3:] == ["agent:complete", "node:complete", "flow:complete"]
    assert client.heard[-2]["output"] == {"result": "You said: hello"}


async def test_a_process_that_dies_fails_its_node_and_its_flow(port: Port) -> None:
    async with connected(port) as client:
        await port.chat.type("/new --name a hello")
        await client.until("agent:complete")
        events = await port.daemon.log.events((await port.chat.state("a")).id, limit=1000)
        (pid,) = [each.payload.pid for each in events if isinstance(each.payload, SessionStarted)]
        os.kill(pid or 0, signal.SIGKILL)
        done = await client.until("flow:complete")
        told_exactly(client)
    assert done["status"] == "failed"
    assert client.types[-3:] == ["agent:error", "node:error", "flow:complete"]
    assert client.heard[-3]["errorType"] == "exception"
    assert client.heard[-2]["error"] == client.heard[-3]["message"]


async def test_a_run_that_is_resumed_has_a_new_run_id_and_the_same_node(port: Port) -> None:
    async with connected(port) as client:
        await port.chat.type("/new --name a hello")
        first = await client.until("node:start")
        await client.until("agent:complete")
        await port.chat.type("/kill a")
        await client.until("agent:aborted")
        await port.chat.type("/resume a again")
        second = await client.until("node:start")
        await client.until("agent:complete")
        told_exactly(client)
    assert first["nodeId"] == second["nodeId"]
    assert first["runId"] != second["runId"]


async def test_sleeping_and_waking_is_nobody_s_concern(port: Port) -> None:
    async with connected(port) as client:
        await port.chat.type("/new --name a hello")
        await client.until("agent:complete")
        await port.chat.type("/sleep a")
        await port.chat.type("/say a again")
        await client.until("agent:complete")
        told_exactly(client)
    assert client.kinds()[6:] == [
        "agent:start",
        "agent:text:delta",
        "agent:text",
        "agent:complete",
    ]


async def test_an_approval_is_told_with_what_a_reply_needs(
    port: Port, script: Script, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    async with connected(port) as client:
        await port.chat.type("/new --name a make it")
        asked = (await client.until("state:patch"))["patch"]
        pending = await port.chat.asked("a")
        value = asked["value"]
        assert asked["op"] == "set"
        assert asked["path"] == f"approvals.{pending.id}"
        assert (value["promptId"], value["status"]) == (pending.id, "waiting")
        assert value["toolInput"]["command"] == "touch made"
        run = next(e["runId"] for e in client.heard if e["type"] == "node:start")
        assert value["runId"] == run
        await port.chat.type(f"/deny {pending.id} not now")
        answered = (await client.until("state:patch"))["patch"]
        assert answered["path"] == asked["path"]
        assert (answered["value"]["status"], answered["value"]["reason"]) == ("deny", "not now")
        told_exactly(client)
    assert not (workdir / "made").exists()


async def test_a_question_is_told_with_its_options(port: Port, script: Script) -> None:
    script.on("ask", question("Which?", ["Red", "Blue"]), say("Good."))
    async with connected(port) as client:
        await port.chat.type("/new --name a ask me")
        value = (await client.until("state:patch"))["patch"]["value"]
        told_exactly(client)
    assert value["kind"] == "question"
    assert [o["label"] for o in value["questions"][0]["options"]] == ["Red", "Blue"]


async def test_an_interrupted_turn_pauses_the_agent_and_not_the_flow(
    port: Port, script: Script
) -> None:
    gate = Gate()
    script.on("talk", say("One ", gate, "two."))
    async with connected(port) as client:
        await port.chat.type("/new --name a talk")
        await client.until("agent:text:delta")
        await port.chat.type("/interrupt a")
        await client.until("agent:paused")
        told_exactly(client)
        gate.open()
    assert "flow:paused" not in client.types
    assert (await port.chat.idle("a")).status is Status.RUNNING


@pytest.mark.parametrize("word", ["kill", "pause"])
async def test_an_end_that_was_asked_for_elsewhere_is_told_in_the_same_words(
    port: Port, script: Script, word: str
) -> None:
    gate = Gate()
    script.on("talk", say("One ", gate, "two."))
    done = {"kill": "aborted", "pause": "paused"}[word]
    async with connected(port) as client:
        await port.chat.type("/new --name a talk")
        await client.until("agent:text:delta")
        await port.chat.type(f"/{word} a")
        await client.until(f"agent:{done}")
        await client.echo()
        told_exactly(client)
        gate.open()
    ends = [kind for kind in client.types if kind.endswith((done, "complete", "error"))]
    assert ends == [f"flow:{done}", f"agent:{done}"]
