"""What Prometheus reads."""

from __future__ import annotations

import asyncio
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from claude_sessions.demo import Gate, Sandbox, Script, bash, say, tool
from claude_sessions.model import Role
from claude_sessions.telegram.files import uploads_in
from tests.botapi import BotApi
from tests.gateway.port import Port, opened
from tests.telegram.phone import OWNER, settings_for


async def figures(port: Port) -> dict[str, float]:
    """By name, and the values of its labels in the order of their names."""
    answer = await port.http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.text)
    samples = [sample for family in families for sample in family.samples]
    return {
        "/".join([each.name.removeprefix("claude_sessions_"), *each.labels.values()]): each.value
        for each in samples
    }


async def once(port: Port, name: str, value: float) -> dict[str, float]:
    """The figures, as soon as this one is that."""
    async with asyncio.timeout(20):
        while (told := await figures(port))[name] != value:
            pass
    return told


async def test_what_happened_is_counted_and_what_stands_is_told(script: Script, port: Port) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await port.call("claude-code.launch", prompt="make", name="maker")
    await port.chat.asked("maker")
    before = await figures(port)
    assert before["open_approvals"] == 1
    assert before["activity/waiting"] == 1
    waiting = (await port.call("claude-code.approvals"))["approvals"][0]
    await port.call("claude-code.approve", approvalId=waiting["approvalId"], decision="allow")
    await port.chat.idle("maker")
    after = await figures(port)
    assert after["turns_total/completed"] == 1
    assert after["approvals_total/person/allow"] == 1
    assert after["approval_seconds_count/allow"] == 1
    assert after["tokens_total/output"] > 0
    assert after["cost_usd_total"] > 0
    assert after["sessions/running"] == 1
    assert after["open_approvals"] == 0
    assert after["log_unwritten_events"] == 0
    assert after["process_memory_bytes"] > 1_000_000
    await port.call("claude-code.kill", session="maker")
    ended = await figures(port)
    assert ended["runs_total/user/killed"] == 1
    assert ended["sessions/killed"] == 1


async def test_what_was_withdrawn_was_decided_by_nobody(script: Script, port: Port) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await port.call("claude-code.launch", prompt="make", name="maker")
    await port.chat.asked("maker")
    await port.call("claude-code.kill", session="maker")
    told = await figures(port)
    assert told["approvals_total/nobody/cancelled"] == 1
    assert "approval_seconds_count/cancelled" not in told
    assert told["open_approvals"] == 0


async def test_what_a_rule_decides_is_told_apart(script: Script, port: Port) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await port.call("claude-code.rules.add", pattern="Bash(touch made)", verdict="allow")
    await port.call("claude-code.launch", prompt="make", name="maker")
    await port.chat.until("maker", lambda s: s.blocks == 1)
    assert (await figures(port))["approvals_total/rule/allow"] == 1
    await port.chat.idle("maker")


async def test_what_a_person_has_sent_is_read_without_asking_one(
    script: Script, port: Port
) -> None:
    sent = uploads_in(port.home) / "mine" / "notes.txt"
    sent.parent.mkdir(parents=True)
    sent.write_text("Notes.")
    script.on("look", tool("Read", file_path=str(sent)), say("Read."))
    await port.call("claude-code.launch", prompt="look", name="maker")
    await port.chat.idle("maker")
    assert (await figures(port))["approvals_total/rule/allow"] == 1


async def test_what_waits_is_told_for_each_queue_there_is(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("slow", say("One ", gate, "two."))
    async with opened(sandbox, workdir, sessions={"max_sessions": 1}) as port:
        await port.call("claude-code.launch", prompt="slow", name="busy")
        await gate.reached()
        for words in ("a", "b"):
            await port.call("claude-code.respond", session="busy", message=words)
        await port.call("claude-code.launch", prompt="hello", name="next", queue=True)
        waiting = await figures(port)
        assert (waiting["queued_messages"], waiting["line_length"]) == (2, 1)
        gate.open()
        await port.chat.idle("next")
        await once(port, "router_lag_events", 0)
        done = await figures(port)
        assert (done["queued_messages"], done["line_length"]) == (0, 0)
        assert done["log_position"] == port.daemon.log.head


async def test_what_telegram_has_to_take_and_may_be_given_is_told(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with BotApi() as api:
        known = settings_for(api, workdir).model_dump(include={"telegram", "people"})
        async with opened(sandbox, workdir, **known) as port:
            owner = api.person(OWNER, "Ada")
            await owner.says("/new --name first hello")
            await owner.chat.shows("✅ first is done", timeout=20)
            told = await once(port, "outbox_depth/telegram", 0)
            assert told[f"send_budget/{OWNER}/telegram"] >= 0
            await api.goes_down()
            await port.chat.type("/say first and now")
            await once(port, "outbox_depth/telegram", 1)
            await api.comes_back()
            await owner.chat.shows("You said: and now", timeout=40)


async def test_they_need_a_token_of_whatever_role(port: Port) -> None:
    assert (await port.http.get("/metrics", headers={"Authorization": ""})).status_code == 401
    headers = {"Authorization": f"Bearer {await port.scoped(Role.VIEWER)}"}
    assert (await port.http.get("/metrics", headers=headers)).status_code == 200
