from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from claude_sessions.approvals.rules import ToolCall, from_suggestions, parse_rule, suggest
from claude_sessions.model import PermissionMode
from tests.approvals.samples import WEB, allowed, bash, call, denied

OFFERED = [
    (bash("npm test"), "Bash(npm test)"),
    (bash("ls *.py"), "Bash(ls \\\\*.py)"),
    (bash("echo '(a)' \\;"), "Bash(echo '\\(a\\)' \\\\\\\\;)"),
    (bash("echo a:*"), "Bash(echo a:\\\\*)"),
    (bash("a; b"), None),
    (bash("a > f"), None),
    (bash("eval 'a; b'"), None),
    (bash(""), None),
    (call("Bash", command="a", dangerouslyDisableSandbox=True), None),
    (call("Edit", file_path="src/a.ts"), "Edit(src/a.ts)"),
    (call("Write", file_path=f"{WEB}/a.ts"), "Edit(./a.ts)"),
    (call("Write", file_path="app/[id]/p.tsx"), "Edit(app/\\\\[id\\\\]/p.tsx)"),
    (call("Write", file_path="~/notes/a.md"), "Edit(~/notes/a.md)"),
    (call("Write", file_path="/srv/x"), "Edit(//srv/x)"),
    (call("Edit"), None),
    (call("Read", file_path="/srv/x"), "Read(//srv/x)"),
    (call("Grep", pattern="x", path="/srv"), "Read(//srv/**)"),
    (call("Glob", pattern="*", path="src"), "Read(./src/**)"),
    (call("Glob", pattern="../../*", path="src"), None),
    (call("WebFetch", url="https://docs.example.com/x"), "WebFetch(domain:docs.example.com)"),
    (call("WebFetch", url="https://a@b.com"), None),
    (call("WebSearch", query="x"), "WebSearch"),
    (call("mcp__github__create_issue", title="x"), "mcp__github__create_issue"),
    (call("AskUserQuestion"), None),
    (call("ExitPlanMode"), None),
    (call("no tool (at all"), None),
    (call("*"), None),
]


@pytest.mark.parametrize(("request_", "offered"), OFFERED)
def test_what_is_offered_is_the_narrowest_rule(request_: ToolCall, offered: str | None) -> None:
    assert suggest(request_) == offered


@pytest.mark.parametrize("request_", [each for each, offered in OFFERED if offered])
def test_what_is_offered_would_have_answered(request_: ToolCall) -> None:
    offered = suggest(request_)
    assert offered is not None
    assert allowed(offered, request_)
    assert denied(offered, request_)


def test_what_is_offered_for_a_command_is_that_command_only() -> None:
    offered = suggest(bash("ls *"))
    assert offered is not None
    assert not allowed(offered, bash("ls x"))


def test_in_a_part_of_a_project_the_path_is_whole() -> None:
    part = replace(call("Edit", directory=f"{WEB}/sub", file_path="a.ts"), project_directory=WEB)
    assert suggest(part) == "Edit(~/web/sub/a.ts)"


def test_the_suggestions_of_the_cli_become_rules() -> None:
    found = from_suggestions(
        [
            {
                "type": "addRules",
                "behavior": "allow",
                "destination": "localSettings",
                "rules": [
                    {"toolName": "Bash", "ruleContent": "npm run:*"},
                    {"toolName": "Read", "ruleContent": "//etc/**"},
                    {"toolName": "Edit", "ruleContent": "/src/**"},
                    {"toolName": "WebSearch"},
                ],
            },
            {"type": "addDirectories", "directories": ["/srv/da[t]a/"], "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ]
    )
    assert [parse_rule(text) for text in found.rules] == [
        ("Bash", "npm run:*"),
        ("Read", "//etc/**"),
        ("Edit", "./src/**"),
        ("WebSearch", None),
        ("Read", "//srv/da\\[t\\]a/**"),
        ("Edit", "//srv/da\\[t\\]a/**"),
    ]
    assert found.mode is PermissionMode.ACCEPT_EDITS
    assert found.passed_over == ()


@pytest.mark.parametrize(
    "suggestion",
    [
        {},
        {"type": "addRules"},
        {"type": "addRules", "behavior": "deny", "rules": [{"toolName": "Bash"}]},
        {"type": "addRules", "behavior": "allow", "rules": [{"toolName": "*"}, {"x": 1}, 7]},
        {"type": "addRules", "behavior": "allow", "rules": "Bash"},
        {"type": "addRules", "behavior": "allow", "rules": [{"toolName": "B", "ruleContent": "x"}]},
        {
            "type": "addRules",
            "behavior": "allow",
            "rules": [{"toolName": "Bash", "ruleContent": "a; b"}],
        },
        {"type": "addDirectories", "directories": ["/", "//", "relative", 7, "~"]},
        {"type": "setMode", "mode": "whatever"},
        {"type": "setMode", "mode": ["plan"]},
        {"type": "removeRules", "behavior": "allow", "rules": [{"toolName": "Bash"}]},
        {"type": "somethingNew", "rules": None},
    ],
)
def test_a_suggestion_not_understood_is_passed_over(suggestion: dict[str, Any]) -> None:
    found = from_suggestions([suggestion])
    assert found.rules == ()
    assert found.mode is None
    assert found.passed_over == (suggestion,)
