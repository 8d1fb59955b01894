from __future__ import annotations

from dataclasses import replace

import pytest

from claude_sessions.approvals.policy import looser, ruling_of_mode
from claude_sessions.approvals.rules import ToolCall
from claude_sessions.model import PermissionMode as Mode
from claude_sessions.model import Verdict
from tests.approvals.samples import WEB, bash, call

QUESTIONS = [call("AskUserQuestion"), call("ExitPlanMode")]
EVERYTHING = [
    *QUESTIONS,
    bash("npm test"),
    bash("ls"),
    call("Write", file_path="a"),
    call("Edit", file_path="/etc/hosts"),
    call("Read", file_path="/x"),
    call("WebFetch", url="https://a.b"),
    call("mcp__a__b"),
    call("Unknown"),
]

REFUSED_WHILE_PLANNING = [
    bash("npm test"),
    bash("ls; rm x"),
    bash("ls > f"),
    bash(""),
    call("Monitor", command="npm run x"),
    call("Write", file_path="src/a.ts"),
    call("Edit", file_path="src/a.ts"),
    call("MultiEdit", file_path="src/a.ts"),
    call("NotebookEdit", notebook_path="a.ipynb"),
    call("Write"),
    call("Write", file_path="~/.claude/plans/../settings.json"),
    call("Write", file_path="~/.claude/plans"),
    call("Write", file_path="~/.claude/plans/run.sh"),
    call("Write", file_path=".claude/plans/a.md"),
    call("mcp__github__get_issue"),
    call("KillShell"),
    call("PowerShell", command="ls"),
    call("SomethingNew"),
]
LEFT_ALONE_WHILE_PLANNING = [
    *QUESTIONS,
    bash("git log | head"),
    call("Read", file_path="/x"),
    call("Grep", pattern="x"),
    call("WebFetch", url="https://a.b"),
    call("WebSearch", query="x"),
    call("Task", prompt="x"),
    call("TodoWrite"),
    call("Write", file_path="~/.claude/plans/a-b.md"),
    call("Edit", file_path="/home/me/.claude/plans/a-b.md"),
]


@pytest.mark.parametrize("request_", REFUSED_WHILE_PLANNING)
def test_plan_mode_refuses_what_writes_or_runs_and_no_rule_is_heard(request_: ToolCall) -> None:
    ruling = ruling_of_mode(Mode.PLAN, request_)
    assert ruling is not None
    assert ruling.verdict is Verdict.DENY
    assert ruling.final
    assert ruling.reason.startswith("Plan mode")
    assert "ExitPlanMode" in ruling.reason, "Claude is told what to do instead"


@pytest.mark.parametrize("request_", LEFT_ALONE_WHILE_PLANNING)
def test_plan_mode_leaves_reading_and_the_plan_alone(request_: ToolCall) -> None:
    assert ruling_of_mode(Mode.PLAN, request_) is None


def test_the_plan_must_not_be_a_link_to_something_else() -> None:
    plan = call("Write", file_path="~/.claude/plans/a.md")
    assert ruling_of_mode(Mode.PLAN, replace(plan, resolved="/home/me/.bashrc")) is not None


def test_an_mcp_tool_known_to_read_is_left_alone() -> None:
    request = call("mcp__github__get_issue")
    assert ruling_of_mode(Mode.PLAN, request, known_readers={"mcp__github__get_issue"}) is None


@pytest.mark.parametrize("request_", EVERYTHING)
def test_dont_ask_refuses_but_only_after_the_rules(request_: ToolCall) -> None:
    ruling = ruling_of_mode(Mode.DONT_ASK, request_)
    assert ruling is not None
    assert ruling.verdict is Verdict.DENY
    assert ruling.reason
    assert not ruling.final


@pytest.mark.parametrize("request_", EVERYTHING)
def test_bypass_allows_after_the_rules_all_but_questions(request_: ToolCall) -> None:
    ruling = ruling_of_mode(Mode.BYPASS, request_)
    if request_ in QUESTIONS:
        assert ruling is None
    else:
        assert ruling is not None
        assert ruling.verdict is Verdict.ALLOW
        assert not ruling.final


@pytest.mark.parametrize("request_", EVERYTHING)
@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.AUTO])
def test_the_other_modes_ask(mode: Mode, request_: ToolCall) -> None:
    assert ruling_of_mode(mode, request_) is None


@pytest.mark.parametrize("path", ["a.ts", "src/deep/a.ts", f"{WEB}/a.ts", "x/../a.ts"])
def test_accept_edits_allows_edits_inside(path: str) -> None:
    ruling = ruling_of_mode(Mode.ACCEPT_EDITS, call("Edit", file_path=path))
    assert ruling is not None
    assert ruling.verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "request_",
    [
        call("Edit", file_path="../a"),
        call("Edit", file_path="/etc/hosts"),
        call("Edit", file_path=f"{WEB}2/a"),
        call("Edit", file_path="src/../../a"),
        call("Edit", file_path=".git/hooks/x"),
        call("Edit", file_path=".claude/settings.json"),
        call("Edit", file_path=".mcp.json"),
        call("Edit"),
        replace(call("Edit", file_path="src/link"), resolved="/etc/passwd"),
        bash("touch a"),
        call("mcp__a__b"),
        call("AskUserQuestion"),
        call("Read", file_path="/x"),
    ],
)
def test_accept_edits_asks_for_the_rest(request_: ToolCall) -> None:
    assert ruling_of_mode(Mode.ACCEPT_EDITS, request_) is None


def test_modes_from_strict_to_loose() -> None:
    order = [Mode.PLAN, Mode.DONT_ASK, Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.AUTO, Mode.BYPASS]
    assert set(order) == set(Mode)
    for left in order:
        for right in order:
            assert looser(left, right) is (order.index(left) > order.index(right))
