"""Calls and rules for the tests, with what does not matter filled in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from claude_sessions.approvals.rules import Rule, ToolCall, matches, parse_rule
from claude_sessions.model import Scope, Verdict

HOME = "/home/me"
WEB = "/home/me/web"
NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def call(tool_name: str, *, session: str = "s1", directory: str = WEB, **values: Any) -> ToolCall:
    return ToolCall(
        tool_name=tool_name,
        input=values,
        directory=directory,
        session=session,
        project_directory=directory,
        home=HOME,
    )


def bash(command: str) -> ToolCall:
    return call("Bash", command=command)


def rule(text: str, verdict: Verdict = Verdict.ALLOW, **more: Any) -> Rule:
    tool, pattern = parse_rule(text, verdict=verdict)
    values: dict[str, Any] = {"id": "r1", "scope": Scope.USER, "by": "owner", "at": NOW} | more
    return Rule(verdict=verdict, tool=tool, pattern=pattern, **values)


def allowed(text: str, request: ToolCall) -> bool:
    return matches(rule(text), request, NOW)


def denied(text: str, request: ToolCall) -> bool:
    return matches(rule(text, Verdict.DENY), request, NOW)
