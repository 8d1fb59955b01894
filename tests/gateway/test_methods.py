"""The family of calls, each against what rpc.discover says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from claude_sessions.demo import Sandbox, Script, ScriptedModel, bash, hang, question, say
from claude_sessions.gateway.methods import METHODS
from claude_sessions.model import Role
from tests.extensions.places import marketplace
from tests.gateway.port import Port, RpcError, opened

UNFIT: tuple[Any, ...] = (7, "?", [])  # for whatever parameter, one of them is wrong


async def checked(port: Port, method: str, **params: Any) -> Any:
    """A call and a result that are what discovery says they are."""
    discovered = await port.call("rpc.discover")
    (known,) = [each for each in discovered["methods"] if each["name"] == method]
    wanted = {each["name"]: each for each in known["params"]}
    assert {name for name, each in wanted.items() if each["required"]} <= set(params)
    for name, value in params.items():
        assert fits(value, wanted[name]["schema"], discovered), name
    result = await port.call(method, **params)
    schema = {**known["result"]["schema"], "components": discovered["components"]}
    jsonschema.validate(result, schema)
    return result


async def test_what_no_name_or_type_says_of_a_parameter_is_described(port: Port) -> None:
    discovered = await port.call("rpc.discover")
    methods = {each["name"]: each["params"] for each in discovered["methods"]}
    for method, name in [
        ("claude-code.launch", "workdir"),
        ("claude-code.launch", "maxBudgetUsd"),
        ("claude-code.kill", "session"),
        ("claude-code.approve", "answers"),
        ("claude-code.events", "limit"),
        ("claude-code.plugins.install", "plugin"),
    ]:
        (param,) = (each for each in methods[method] if each["name"] == name)
        assert param["schema"]["description"], (method, name)


def fits(value: object, schema: Any, discovered: Any) -> bool:
    whole = {**schema, "components": discovered["components"]}
    return bool(jsonschema.Draft202012Validator(whole).is_valid(value))


async def test_what_is_discovered_is_what_there_is(port: Port) -> None:
    discovered = await port.call("rpc.discover")
    assert {each["name"] for each in discovered["methods"]} == set(METHODS)
    jsonschema.Draft202012Validator.check_schema(
        {"$defs": discovered["components"]["schemas"], "type": "object"}
    )


async def test_what_discovery_excludes_is_refused_parameter_by_parameter(port: Port) -> None:
    discovered = await port.call("rpc.discover")
    for method in discovered["methods"]:
        wrong: dict[str, Any] = {
            each["name"]: next(v for v in UNFIT if not fits(v, each["schema"], discovered))
            for each in method["params"]
        }
        with pytest.raises(RpcError, match="Invalid params") as refused:
            await port.call(method["name"], **wrong, unknown=1)
        assert refused.value.code == -32602
        told = {problem["at"].partition(".")[0] for problem in refused.value.data["problems"]}
        assert told == {*wrong, "unknown"}, method["name"]


async def test_every_result_has_its_shape(script: Script, port: Port) -> None:
    script.on("make", bash("touch made"), say("Made."))
    made = await checked(port, "claude-code.launch", prompt="make", name="maker")
    pending = await port.chat.asked("maker")
    waiting = (await checked(port, "claude-code.approvals"))["approvals"]
    assert waiting[0]["approvalId"] == pending.id
    assert waiting[0]["input"]["command"] == "touch made"
    decided = await checked(
        port, "claude-code.approve", toolUseId=waiting[0]["toolUseId"], decision="allow"
    )
    assert decided["approvalId"] == pending.id
    await port.chat.idle("maker")
    await checked(port, "claude-code.respond", session="maker", message="and then?")
    await port.chat.idle("maker")
    for method in ("sessions", "stats", "rules", "projects", "schedules", "status", "tokens"):
        await checked(port, f"claude-code.{method}")
    output = await checked(port, "claude-code.output", id=made["id"], lines=1)
    assert output["lines"] == ["You said: and then?"]
    await checked(port, "claude-code.interrupt", session="maker")
    page = await checked(port, "claude-code.events", session="maker", types=["turn.*"])
    assert [each["type"] for each in page["events"]] == ["turn.started", "turn.completed"] * 2
    forked = await checked(port, "claude-code.fork", session="maker", prompt="other", turn=1)
    assert forked["name"] == "maker-fork"
    await checked(port, "claude-code.kill", session="maker")
    resumed = await checked(port, "claude-code.resume", session="maker", prompt="again")
    assert resumed["status"] in ("starting", "running")
    heard = await checked(port, "claude-code.chat", line="/sessions")
    assert "maker" in heard["text"]


async def test_rules_and_schedules_are_made_and_taken_back(port: Port) -> None:
    rule = await checked(port, "claude-code.rules.add", verdict="deny", pattern="Bash(rm *)")
    kept = await checked(port, "claude-code.rules")
    assert [each["id"] for each in kept["rules"]] == [rule["rule"]]
    await port.scoped(Role.VIEWER)
    assert len((await checked(port, "claude-code.tokens"))["tokens"]) == 1
    await checked(port, "claude-code.rules.revoke", rule=rule["rule"])
    made = await checked(port, "claude-code.schedules.add", when="0 9 * * *", prompt="look")
    assert (await checked(port, "claude-code.schedules"))["schedules"]
    for verb in ("pause", "resume", "run", "delete"):
        await checked(port, f"claude-code.schedules.{verb}", schedule=made["schedule"])
    assert (await port.call("claude-code.schedules"))["schedules"] == []


async def test_what_is_said_of_a_run_is_what_it_gets(port: Port) -> None:
    await port.call("claude-code.launch", prompt="hello", name="maker")
    await port.chat.idle("maker")
    await port.call("claude-code.kill", session="maker")
    given = {"model": "haiku", "permissionMode": "plan", "maxBudgetUsd": 3}
    await checked(port, "claude-code.resume", session="maker", prompt="again", **given)
    spec = (await port.chat.idle("maker")).spec
    assert (spec.model, spec.mode.value) == ("haiku", "plan")
    assert spec.budget_usd == pytest.approx(3, abs=0.01)  # and what is spent already
    given = {"model": "sonnet", "permissionMode": "default", "maxBudgetUsd": 2, "name": "twig"}
    await checked(port, "claude-code.fork", session="maker", prompt="aside", **given)
    spec = (await port.chat.idle("twig")).spec
    assert (spec.model, spec.mode.value, spec.budget_usd) == ("sonnet", "default", 2)


async def test_a_message_steers_or_interrupts_where_that_is_asked_for(
    script: Script, model: ScriptedModel, port: Port
) -> None:
    script.on("slow", hang())
    await port.call("claude-code.launch", prompt="slow", name="maker")
    await model.asked("slow")
    await checked(port, "claude-code.respond", session="maker", message="aside", steer=True)
    await checked(port, "claude-code.respond", session="maker", message="now", interrupt=True)
    await model.asked("now")
    await port.chat.idle("maker")
    said = await port.call("claude-code.events", session="maker", types=["user.message"])
    steered = {each["payload"]["text"]: each["payload"]["steer"] for each in said["events"]}
    assert steered == {"slow": False, "aside": True, "now": False}


@pytest.mark.parametrize(
    ("given", "made", "rules"),
    [
        ({"decision": "allow", "input": {"command": "touch other"}}, ["other"], []),
        ({"decision": "allow", "scope": "session"}, ["made"], ["session"]),
        ({"decision": "deny", "reason": "not today"}, [], []),
    ],
)
async def test_a_decision_is_carried_out_as_it_was_said(
    script: Script, port: Port, workdir: Path, given: dict[str, Any], made: list[str], rules: Any
) -> None:
    script.on("make", bash("touch made"), say(lambda request: f"{request.last_tool_result}"))
    await port.call("claude-code.launch", prompt="make", name="maker")
    pending = await port.chat.asked("maker")
    told = await checked(port, "claude-code.approve", approvalId=pending.id, **given)
    assert (told["persisted"], told["scope"]) == (bool(rules), given.get("scope", "once"))
    await port.chat.idle("maker")
    assert [name for name in ("made", "other") if (workdir / name).exists()] == made
    kept = (await port.call("claude-code.rules"))["rules"]
    assert [each["scope"] for each in kept] == rules
    (said,) = (await port.call("claude-code.output", session="maker"))["lines"]
    assert ("not today" in said) is (given["decision"] == "deny")


async def test_a_rule_reaches_as_far_and_lasts_as_long_as_was_said(
    port: Port, workdir: Path
) -> None:
    made = await port.call("claude-code.launch", prompt="hello", name="maker")
    await port.chat.idle("maker")
    rule = {"verdict": "allow", "pattern": "Bash(ls)", "seconds": 60}
    await checked(port, "claude-code.rules.add", **rule, scope="session", session="maker")
    await checked(port, "claude-code.rules.add", **rule, directory=str(workdir))
    by_scope = {each["scope"]: each for each in (await port.call("claude-code.rules"))["rules"]}
    assert by_scope["session"]["session"] == made["id"]
    assert by_scope["project"]["directory"] == str(workdir)
    assert all(each["expiresAt"] for each in by_scope.values())


async def test_what_is_said_of_a_schedule_is_what_its_sessions_get(
    port: Port, workdir: Path
) -> None:
    (inner := workdir / "inner").mkdir()
    given: dict[str, Any] = {"name": "daily", "workdir": str(inner), "zone": "Europe/Berlin"}
    more = {"model": "haiku", "permissionMode": "plan", "maxBudgetUsd": 2, "once": True}
    made = await checked(
        port, "claude-code.schedules.add", when="0 9 * * *", prompt="look", **given, **more
    )
    (listed,) = (await port.call("claude-code.schedules"))["schedules"]
    assert (listed["name"], listed["cron"]) == ("daily", "0 9 * * *")
    assert port.daemon.pool.schedules.book.all()[0].zone == "Europe/Berlin"
    ran = await checked(port, "claude-code.schedules.run", schedule=made["schedule"])
    spec = (await port.chat.ended(ran["session"])).spec
    assert (spec.directory, spec.model, spec.mode.value) == (str(inner), "haiku", "plan")
    assert (spec.budget_usd, spec.once) == (2, True)


async def test_a_question_is_answered(script: Script, port: Port) -> None:
    script.on("choose", question("Which?", ["Red", "Blue"]), say("Chosen."))
    await port.call("claude-code.launch", prompt="choose", name="asker")
    pending = await port.chat.asked("asker")
    told = (await port.call("claude-code.approvals"))["approvals"][0]
    assert told["questions"][0]["question"] == "Which?"
    await checked(
        port, "claude-code.approve", approvalId=pending.id, decision="allow", answers=["Blue"]
    )
    await port.chat.idle("asker")


async def test_a_turn_that_is_not_there_is_not_told_as_a_session_that_is_not(port: Port) -> None:
    await port.call("claude-code.launch", prompt="hello", name="maker")
    await port.chat.idle("maker")
    with pytest.raises(RpcError) as refused:
        await port.call("claude-code.fork", session="maker", turn=99)
    assert refused.value.code == -32001
    assert "maker has no turn 99" in refused.value.message


async def test_one_steers_or_interrupts(port: Port) -> None:
    await port.call("claude-code.launch", prompt="hello", name="maker")
    with pytest.raises(RpcError, match="exclude each other") as refused:
        await port.call(
            "claude-code.respond", session="maker", message="x", steer=True, interrupt=True
        )
    assert refused.value.code == -32602
    await port.chat.idle("maker")


async def test_a_place_that_no_log_has_is_refused_in_a_sentence(port: Port) -> None:
    for after in (10**18, 2**63, 10**30):
        with pytest.raises(RpcError, match="Invalid params: after: ") as refused:
            await port.call("claude-code.events", after=after)
        assert refused.value.code == -32602


async def test_what_lies_too_deep_is_told_so(port: Port) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = {"a": deep}
    given = {"approvalId": "x", "decision": "allow", "input": deep}
    with pytest.raises(RpcError, match="Invalid params: Invalid JSON: recursion limit"):
        await port.call("claude-code.approve", **given)


@pytest.mark.parametrize(
    ("params", "code", "message"),
    [
        ({}, -32602, "Missing required parameter: prompt"),
        ({"prompt": 7}, -32602, "Invalid params: prompt: Input should be a valid string"),
        ({"prompt": "x", "nonsense": 1}, -32602, "Invalid params: nonsense"),
        ({"prompt": "x", "name": "No Name"}, -32602, "cannot be a name"),
        ({"prompt": "x", "workdir": "/etc"}, -32003, "outside"),
    ],
)
async def test_a_launch_that_cannot_be_says_why(
    port: Port, params: dict[str, Any], code: int, message: str
) -> None:
    with pytest.raises(RpcError) as refused:
        await port.call("claude-code.launch", **params)
    assert refused.value.code == code
    assert message in refused.value.message


async def test_both_spellings_are_understood(port: Port) -> None:
    spellings: list[dict[str, Any]] = [{"maxBudgetUsd": 1.5}, {"max_budget_usd": 1.5}]
    for spelling in spellings:
        made = await port.call("claude-code.launch", prompt="hello", **spelling)
        assert (await port.chat.state(made["id"])).spec.budget_usd == 1.5


async def test_a_full_pool_is_told_in_the_seeds_words(script: Script, port: Port) -> None:
    script.on("hang", hang())
    for _ in range(5):
        await port.call("claude-code.launch", prompt="hang")
    with pytest.raises(RpcError) as refused:
        await port.call("claude-code.launch", prompt="one more")
    assert refused.value.message == "Max sessions reached (5). Kill a session first."
    calls: list[tuple[str, dict[str, Any]]] = [("kill", {}), ("output", {"lines": 3})]
    for call, params in calls:
        with pytest.raises(RpcError) as missing:
            await port.call(f"claude-code.{call}", **params)
        assert missing.value.message == "Missing required parameter: session (name or ID)"


async def test_who_may_only_watch_decides_and_starts_nothing(script: Script, port: Port) -> None:
    script.on("make", bash("touch made"), say("Made."))
    viewer = await port.scoped(Role.VIEWER)
    await port.call("claude-code.launch", prompt="make", name="maker")
    pending = await port.chat.asked("maker")
    assert (await port.call("claude-code.approvals", token=viewer))["approvals"]
    refused: list[tuple[str, dict[str, Any]]] = [
        ("launch", {"prompt": "x"}),
        ("kill", {"session": "maker"}),
        ("respond", {"session": "maker", "message": "x"}),
        ("approve", {"approvalId": pending.id, "decision": "allow"}),
        ("rules.add", {"verdict": "allow", "pattern": "Bash(ls)"}),
        ("tokens", {}),
        ("tokens.new", {"name": "more"}),
        ("chat", {"line": "/kill maker"}),
    ]
    for method, params in refused:
        with pytest.raises(RpcError) as error:
            await port.call(f"claude-code.{method}", token=viewer, **params)
        assert (method, error.value.code) == (method, -32003)
    assert (await port.chat.state("maker")).pending


async def test_the_request_is_named_by_the_events_it_led_to(port: Port) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "claude-code.launch", "params": {"prompt": "x"}}
    answer = await port.http.post("/rpc", json=asked, headers={"X-Request-Id": "my-request.7"})
    assert answer.headers["x-request-id"] == "my-request.7"
    events = (await port.call("claude-code.events", types=["session.created"]))["events"]
    assert events[0]["causedBy"] == "gateway#my-request.7"
    assert events[0]["caller"] == "owner (gateway)"


async def test_plugins_and_mcp_servers_are_managed(port: Port, workdir: Path) -> None:
    marketplace(workdir / "mkt")
    source = str(workdir / "mkt")
    await checked(port, "claude-code.plugins.marketplaces.add", source=source)
    assert (await checked(port, "claude-code.plugins.marketplaces"))["marketplaces"]
    for verb in ("install", "disable", "enable", "update"):
        done = await checked(port, f"claude-code.plugins.{verb}", plugin="tiny@locmkt")
        assert done["success"]
    listed = await checked(port, "claude-code.plugins.list", available=True)
    assert [each["name"] for each in listed["plugins"]] == ["tiny@locmkt"]
    await checked(port, "claude-code.plugins.uninstall", plugin="tiny@locmkt")
    await checked(port, "claude-code.plugins.marketplaces.remove", name="locmkt")
    secret = {"API_TOKEN": "very-secret-value"}
    command = {"name": "far", "transport": "http", "url": "http://127.0.0.1:9/mcp"}
    added = await checked(port, "claude-code.mcp.add", **command, headers=secret)
    status = await checked(port, "claude-code.mcp.status", name="far")
    listed = await checked(port, "claude-code.mcp.list")
    assert [each["name"] for each in listed["servers"]] == ["far"]
    assert "very-secret-value" not in str([added, status, listed])
    await checked(port, "claude-code.mcp.remove", name="far")
    with pytest.raises(RpcError, match="claude plugin install"):
        await port.call("claude-code.plugins.install", plugin="nothing@nowhere")


async def test_a_launch_is_told_where_it_is_configured_to_be(
    sandbox: Sandbox, workdir: Path
) -> None:
    channels = {"workdirs": {str(workdir): "slack|here"}}
    roads = {"message_command": ["true"]}
    async with opened(sandbox, workdir, channels=channels, orchestrator=roads) as port:
        given = await port.call("claude-code.launch", prompt="a", originChannel="slack|ops")
        found = await port.call("claude-code.launch", prompt="b")
        assert (await port.chat.state(given["id"])).origin == "slack|ops"
        assert (await port.chat.state(found["id"])).origin == "slack|here"


async def test_a_launch_that_nobody_hears_of_is_the_gateways(port: Port) -> None:
    made = await port.call("claude-code.launch", prompt="a")
    assert (await port.chat.state(made["id"])).origin == "gateway"


async def test_a_list_is_true_also_when_much_of_it_was_told_before(
    script: Script, port: Port
) -> None:
    script.on("hang", hang())
    first = await port.call("claude-code.launch", prompt="hello", name="first")
    await port.chat.idle("first")
    await port.chat.type("/sleep first")
    told = await port.call("claude-code.sessions")
    assert told == await port.call("claude-code.sessions")
    await port.chat.type("/rename first renamed")
    await port.chat.type("/budget renamed 7")
    second = await port.call("claude-code.launch", prompt="hang", name="second")
    listed = (await port.call("claude-code.sessions"))["sessions"]
    assert {each["id"]: each["name"] for each in listed} == {
        second["id"]: "second",
        first["id"]: "renamed",
    }
    await port.call("claude-code.kill", session="second")
    for status, count in (("all", 2), ("running", 0), ("killed", 1), ("asleep", 1)):
        assert (await port.call("claude-code.sessions", status=status))["count"] == count
