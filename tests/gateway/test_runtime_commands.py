"""The runtime envelope, A.4 and the seed's commands: what a client may want, and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, hang, question, say
from claude_sessions.model import Role, Status
from tests.gateway.envelope import Client, connected
from tests.gateway.port import Port, opened


async def begun(port: Port, client: Client, line: str) -> str:
    """A new session's `runId`."""
    await port.chat.type(line)
    return str((await client.until("node:start"))["runId"])


async def at_work(port: Port, client: Client, script: Script, model: ScriptedModel) -> str:
    """A session in the middle of a turn, with a message queued."""
    script.on("hang", hang())
    run = await begun(port, client, "/new --name a hang")
    await model.asked("hang")
    await port.chat.written_down("a")
    await client.say({"type": "send", "runId": run, "message": "queued"})
    await client.until("command:received")
    await port.chat.until("a", lambda s: bool(s.queue))
    return run


# --- send


async def test_send_is_a_message(port: Port, model: ScriptedModel) -> None:
    async with connected(port) as client:
        run = await begun(port, client, "/new --name a hello")
        await client.until("agent:complete")
        await client.say({"type": "send", "runId": run, "message": "and then?"})
        echo = await client.until("command:received")
        assert echo["command"] == {"type": "send", "runId": run, "message": "and then?"}
        assert (await client.until("agent:complete"))["result"] == "You said: and then?"
    assert model.prompts() == ["hello", "and then?"]


async def test_what_is_sent_into_a_running_turn_is_queued(
    port: Port, script: Script, model: ScriptedModel
) -> None:
    gate = Gate()
    script.on("talk", say("One ", gate, "two."))
    async with connected(port) as client:
        run = await begun(port, client, "/new --name a talk")
        await gate.reached()
        await client.say({"type": "send", "runId": run, "message": "next"})
        await port.chat.until("a", lambda s: bool(s.queue))
        gate.open()
        assert (await client.until("agent:complete"))["result"] == "One two."
        assert (await client.until("agent:complete"))["result"] == "You said: next"


async def test_an_older_run_of_the_same_session_will_do(port: Port) -> None:
    async with connected(port) as client:
        old = await begun(port, client, "/new --name a hello")
        await client.until("agent:complete")
        await port.chat.type("/kill a")
        await port.chat.type("/resume a again")
        new = (await client.until("node:start"))["runId"]
        await client.until("agent:complete")
        assert new != old
        await client.say({"type": "send", "runId": old, "message": "still you?"})
        assert (await client.until("agent:complete"))["runId"] == new


@pytest.mark.parametrize("kind", ["send", "reply"])
@pytest.mark.parametrize("run", [{}, {"runId": ""}, {"runId": None}, {"runId": 7}])
async def test_without_a_run_id_a_command_is_echoed_and_nothing_else(
    port: Port, kind: str, run: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    command = {"type": kind, "message": "x", "promptId": "p", "content": "x", **run}
    async with connected(port) as client:
        await client.say(command)
        (echo,) = await client.echo()
        assert (echo["type"], echo["command"]) == ("command:received", command)
    assert "Runtime command missing runId" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "form", ["nonsense", "{id}", "{id}.", "{id}.abcdefgh", "abcdefgh.{run}", "a.{run}", ".{run}"]
)
async def test_a_run_that_nobody_knows_gets_nothing(
    port: Port, model: ScriptedModel, form: str
) -> None:
    await port.chat.type("/new --name a hello")
    state = await port.chat.idle("a")
    async with connected(port) as client:
        unknown = form.format(id=state.id, run=state.run)
        for more in ({"type": "send", "message": "x"}, {"type": "reply", "promptId": "p"}):
            await client.say({"runId": unknown, "content": "x", **more})
        assert [e["type"] for e in await client.echo()] == ["command:received"] * 2
    assert model.prompts() == ["hello"]


# --- reply


async def asked(client: Client) -> dict[str, Any]:
    value: dict[str, Any] = (await client.until("state:patch"))["patch"]["value"]
    return {"type": "reply", "runId": value["runId"], "promptId": value["promptId"]}


async def test_a_reply_answers_the_question_it_names(
    port: Port, script: Script, model: ScriptedModel
) -> None:
    script.on("ask", question("Which?", ["Red", "Blue"]), say("Good."))
    async with connected(port) as client:
        await port.chat.type("/new --name a ask me")
        await client.say(await asked(client) | {"content": "Blue"})
        patch = (await client.until("state:patch"))["patch"]["value"]
        assert patch["status"] == "allow"
        assert (await client.until("agent:complete"))["result"] == "Good."
    assert "Blue" in str(model.requests[-1].last_tool_result)


@pytest.mark.parametrize("yes", ["yes", "Y", "allow", " Approve\n"])
async def test_a_reply_that_says_yes_allows(
    port: Port, script: Script, workdir: Path, yes: str
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    async with connected(port) as client:
        await port.chat.type("/new --name a make it")
        await client.say(await asked(client) | {"content": yes})
        await client.until("agent:complete")
    assert (workdir / "made").exists()


async def test_a_reply_that_says_anything_else_denies_with_it_as_the_reason(
    port: Port, script: Script, model: ScriptedModel, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Then not."))
    async with connected(port) as client:
        await port.chat.type("/new --name a make it")
        reply = await asked(client) | {"content": "use the other directory"}
        await client.say(reply)
        await client.until("agent:complete")
        await client.say(reply)  # too late: it is no message to Claude either
        await client.echo()
    assert not (workdir / "made").exists()
    assert "use the other directory" in str(model.requests[-1].last_tool_result)
    assert model.prompts() == ["make it"]


async def test_a_tool_use_is_a_prompt_id_too(port: Port, script: Script, workdir: Path) -> None:
    script.on("make", bash("touch made"), say("Made."))
    async with connected(port) as client:
        await port.chat.type("/new --name a make it")
        value = (await client.until("state:patch"))["patch"]["value"]
        reply = {"type": "reply", "runId": value["runId"], "promptId": value["toolUseId"]}
        await client.say(reply | {"content": "yes"})
        await client.until("agent:complete")
    assert (workdir / "made").exists()


async def test_a_reply_to_what_nobody_asked_is_a_message(port: Port) -> None:
    async with connected(port) as client:
        run = await begun(port, client, "/new --name a hello")
        await client.until("agent:complete")
        reply = {"type": "reply", "runId": run, "promptId": "a", "content": "as you like"}
        await client.say(reply)
        assert (await client.until("agent:complete"))["result"] == "You said: as you like"


async def test_a_reply_to_what_was_withdrawn_is_no_message(
    port: Port, script: Script, model: ScriptedModel
) -> None:
    script.on("make", bash("touch made"), say("Then not."))
    async with connected(port) as client:
        await port.chat.type("/new --name a make it")
        reply = await asked(client) | {"content": "yes"}
        await client.say({"type": "abort", "resumable": True})
        await client.until("agent:paused")
        await client.say(reply)
        await client.say({"type": "resume"})
        await client.until("agent:complete")
        assert not (await port.chat.idle("a")).queue
    assert model.prompts() == ["make it", "continue"]


async def test_a_reply_to_what_was_decided_before_a_restart_is_no_message(
    sandbox: Sandbox, workdir: Path, script: Script, model: ScriptedModel
) -> None:
    script.on("make", bash("touch made"), say("Then not."))
    async with opened(sandbox, workdir) as port, connected(port) as client:
        await port.chat.type("/new --name a make it")
        reply = await asked(client)
        await client.say(reply | {"content": "no"})
        await client.until("agent:complete")
    async with opened(sandbox, workdir) as port, connected(port) as client:
        await client.say(reply | {"content": "yes"})
        assert [e["type"] for e in await client.echo()] == ["command:received"]
        assert not (await port.chat.state("a")).queue
    assert model.prompts() == ["make it"]


async def test_a_reply_with_another_session_s_prompt_does_nothing(
    port: Port, script: Script, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    async with connected(port) as client:
        other = await begun(port, client, "/new --name b hello")
        await client.until("agent:complete")
        await port.chat.type("/new --name a make it")
        await client.say(await asked(client) | {"runId": other, "content": "yes"})
        assert [e["type"] for e in await client.echo()] == ["command:received"]
    assert (await port.chat.state("a")).pending
    assert (await port.chat.state("b")).turns == 1


# --- abort and resume


@pytest.mark.parametrize("command", [{"type": "abort", "resumable": True}, {"type": "pause"}])
async def test_a_resumable_abort_pauses_the_flow_and_holds_the_queue(
    port: Port, script: Script, model: ScriptedModel, command: dict[str, Any]
) -> None:
    async with connected(port) as client:
        await at_work(port, client, script, model)
        before = len(client.heard)
        await client.say(command)
        paused = await client.until("agent:paused")
        assert client.types[before:] == ["command:received", "flow:paused", "agent:paused"]
        assert await client.echo() == []
    state = await port.chat.state("a")
    assert paused["sessionId"] == state.claude_id
    assert state.paused
    assert [m.text for m in state.queued] == ["queued"]
    assert model.prompts() == ["hang"]


@pytest.mark.parametrize(
    ("more", "said"), [({}, "continue"), ({"message": "the other way"}, "the other way")]
)
async def test_resume_goes_on_with_its_message_and_then_with_the_queue(
    port: Port, script: Script, model: ScriptedModel, more: dict[str, Any], said: str
) -> None:
    async with connected(port) as client:
        run = await at_work(port, client, script, model)
        await client.say({"type": "abort", "resumable": True})
        await client.until("agent:paused")
        await client.say({"type": "send", "runId": run, "message": "sent meanwhile"})
        assert [e["type"] for e in await client.echo()] == ["command:received"]
        before = len(client.heard)
        await client.say({"type": "resume", **more})
        for _ in range(3):
            await client.until("agent:complete")
        assert client.types[before : before + 3] == [
            "command:received",
            "flow:resumed",
            "agent:start",
        ]
        assert {e["runId"] for e in client.heard[before:] if "runId" in e} == {run}
    assert model.prompts() == ["hang", said, "queued", "sent meanwhile"]


async def test_a_hold_outlasts_the_daemon_and_its_client(
    sandbox: Sandbox, workdir: Path, script: Script, model: ScriptedModel
) -> None:
    async with opened(sandbox, workdir) as port, connected(port) as client:
        await at_work(port, client, script, model)
        await client.say({"type": "abort", "resumable": True})
        await client.until("agent:paused")
    async with opened(sandbox, workdir) as port, connected(port) as client:
        assert await client.echo() == []
        assert model.prompts() == ["hang"]
        await client.say({"type": "resume"})
        for _ in range(2):
            await client.until("agent:complete")
        assert "flow:resumed" in client.types
    assert model.prompts() == ["hang", "continue", "queued"]


@pytest.mark.parametrize(
    "command",
    [{"type": "abort"}, {"type": "abort", "resumable": "true", "reason": "x"}, {"type": "stop"}],
)
async def test_an_abort_for_good_kills_and_nothing_of_the_flow_completes(
    port: Port, script: Script, model: ScriptedModel, command: dict[str, Any]
) -> None:
    async with connected(port) as client:
        await at_work(port, client, script, model)
        before = len(client.heard)
        await client.say(command)
        await client.until("agent:aborted")
        assert client.types[before:] == ["command:received", "flow:aborted", "agent:aborted"]
        await port.chat.ended("a")
        assert await client.echo() == []
    assert (await port.chat.state("a")).status is Status.KILLED


@pytest.mark.parametrize("kind", ["abort", "resume"])
async def test_without_a_session_to_act_on_nothing_is_done(port: Port, kind: str) -> None:
    async with connected(port) as client:
        await client.say({"type": kind})
        assert [e["type"] for e in await client.echo()] == ["command:received"]


@pytest.mark.parametrize("command", [{"type": "abort"}, {"type": "resume"}, {"type": "pause"}])
async def test_with_several_sessions_luck_does_not_choose(
    port: Port, model: ScriptedModel, command: dict[str, Any]
) -> None:
    for name in ("a", "b"):
        await port.chat.type(f"/new --name {name} hello")
        await port.chat.idle(name)
    async with connected(port) as client:
        await client.say(command)
        assert [e["type"] for e in await client.echo()] == ["command:received"]
    assert [(await port.chat.state(name)).status for name in "ab"] == [Status.RUNNING] * 2
    assert len(model.prompts()) == 2


async def test_a_bound_connection_acts_on_its_session_and_hears_of_no_other(port: Port) -> None:
    for name in ("a", "b"):
        await port.chat.type(f"/new --name {name} hello")
    ids = {name: (await port.chat.idle(name)).id for name in "ab"}
    async with connected(port, "?session=a") as by_name, connected(port) as all_:
        async with connected(port, f"?session={ids['b']}") as by_id:
            await port.chat.type("/say b again")
            await by_id.until("agent:complete")
            await by_name.say({"type": "abort"})
            await by_name.until("agent:aborted")
            await by_id.until("command:received")
            assert {e.get("nodeId", ids["b"]) for e in by_id.heard} == {ids["b"]}
        assert by_name.types == ["command:received", "flow:aborted", "agent:aborted"]
        await all_.until("agent:aborted")
        assert {e["nodeId"] for e in all_.heard if "nodeId" in e} == set(ids.values())
    assert (await port.chat.state("a")).status is Status.KILLED
    assert (await port.chat.state("b")).status is Status.RUNNING


async def test_a_bound_connection_may_resume_what_has_ended(port: Port) -> None:
    await port.chat.type("/new --name a hello")
    await port.chat.idle("a")
    await port.chat.type("/kill a")
    async with connected(port, "?session=a") as client:
        await client.say({"type": "resume", "message": "once more"})
        assert (await client.until("agent:complete"))["result"] == "You said: once more"
        assert client.types[1:3] == ["flow:start", "node:start"]


# --- whatever else


async def test_an_unknown_command_is_echoed_as_it_came_to_everybody(port: Port) -> None:
    command = {"z": [1, {"ä": None}], "type": "dance", "a": 1.5, "runId": ["x"]}
    async with connected(port) as client, connected(port, "") as other:
        await client.say(command)
        echo = await other.event()
        assert list(echo) == ["type", "command", "timestamp"]
        assert list(echo["command"].items()) == list(command.items())


async def test_a_viewer_s_commands_are_neither_done_nor_echoed(port: Port) -> None:
    token = await port.scoped(Role.VIEWER)
    await port.chat.type("/new --name a hello")
    state = await port.chat.idle("a")
    run = f"{state.id}.{state.run}"
    async with connected(port, token=token) as viewer, connected(port) as owner:
        await viewer.say({"type": "send", "runId": run, "message": "x"})
        await viewer.say({"type": "abort"})
        await viewer.socket.ping()
        assert await owner.echo() == []
        await port.chat.type("/say a again")
        await viewer.until("agent:complete")
    assert [e["type"] for e in viewer.heard].count("command:received") == 1  # the owner's
    assert (await port.chat.state("a")).turns == 2


async def test_a_prompter_may_talk_and_not_decide(port: Port, script: Script) -> None:
    script.on("make", bash("touch made"), say("Made."))
    token = await port.scoped(Role.PROMPTER)
    async with connected(port, token=token) as client:
        await port.chat.type("/new --name a make it")
        reply = await asked(client)
        await client.say(reply | {"content": "yes"})
        assert [e["type"] for e in await client.echo()] == ["command:received"]
        assert (await port.chat.state("a")).pending
        await client.say({"type": "send", "runId": reply["runId"], "message": "next"})
        await port.chat.until("a", lambda s: bool(s.queue))


async def test_the_log_says_who_sent_it_and_on_which_connection(port: Port) -> None:
    token = await port.scoped(Role.PROMPTER, name="robot")
    async with connected(port, token=token) as client:
        run = await begun(port, client, "/new --name a hello")
        await client.until("agent:complete")
        await client.say({"type": "send", "runId": run, "message": "from me"})
        await client.until("agent:complete")
    events = await port.daemon.log.events(run.split(".")[0], limit=1000)
    said = [each for each in events if each.type == "user.message"][-1]
    assert said.caller == "robot (gateway)"
    assert str(said.caused_by).startswith("gateway#")
