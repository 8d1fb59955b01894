from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from claude_sessions.approvals.rules import Rule, RuleError, judge, matches
from claude_sessions.model import Scope, Verdict
from tests.approvals.samples import NOW, WEB, bash, call, rule

HERE: dict[Scope, dict[str, Any]] = {
    Scope.ONCE: {"scope": Scope.ONCE, "session": "s1"},
    Scope.SESSION: {"scope": Scope.SESSION, "session": "s1"},
    Scope.PROJECT: {"scope": Scope.PROJECT, "directory": WEB},
    Scope.USER: {"scope": Scope.USER},
}


def chosen(*rules: Rule) -> str:
    found = judge(rules, bash("npm test"), NOW)
    assert found is not None
    assert found.verdict is found.rule.verdict
    return found.rule.id


@pytest.mark.parametrize("allow_scope", list(Scope))
@pytest.mark.parametrize("deny_scope", list(Scope))
@pytest.mark.parametrize("deny_text", ["*", "Bash", "Bash(npm *)", "Bash(npm test)"])
def test_a_deny_beats_an_allow_in_every_scope(
    allow_scope: Scope, deny_scope: Scope, deny_text: str
) -> None:
    allow = rule("Bash(npm test)", id="allow", **HERE[allow_scope])
    deny = rule(deny_text, Verdict.DENY, id="deny", **HERE[deny_scope])
    assert chosen(allow, deny) == chosen(deny, allow) == "deny"


def test_then_the_narrower_scope() -> None:
    rules = [rule("Bash(npm test)", id=scope, **HERE[scope]) for scope in Scope]
    for scope in (Scope.ONCE, Scope.SESSION, Scope.PROJECT, Scope.USER):
        assert chosen(*reversed(rules)) == scope
        rules = [each for each in rules if each.scope is not scope]


def test_then_the_more_specific_pattern() -> None:
    texts = ["Bash(npm test)", "Bash(npm t*)", "Bash(npm *)", "Bash"]
    rules = [rule(text, id=text) for text in texts]
    while rules:
        assert chosen(*reversed(rules)) == rules.pop(0).id


def test_a_rule_is_heard_only_where_it_belongs() -> None:
    here, there = bash("npm test"), call("Bash", session="s2", directory="/x", command="npm test")
    for scope in (Scope.ONCE, Scope.SESSION, Scope.PROJECT):
        assert matches(rule("Bash", **HERE[scope]), here, NOW)
        assert not matches(rule("Bash", **HERE[scope]), there, NOW)
    assert matches(rule("Bash"), there, NOW)


def test_a_project_s_rules_hold_in_its_worktrees_and_its_denials_everywhere_below() -> None:
    allow, deny = (rule("Bash", verdict, **HERE[Scope.PROJECT]) for verdict in Verdict)
    for below, allowed in ((".claude/worktrees/fix/src", True), ("sub", False)):
        there = call("Bash", directory=f"{WEB}/{below}", command="npm test")
        assert matches(deny, there, NOW)
        assert matches(allow, there, NOW) is allowed
    beside = call("Bash", directory=f"{WEB}-other", command="npm test")
    assert not matches(deny, beside, NOW)


def test_a_rule_ends_at_its_expiry() -> None:
    ending = rule("Bash", expires_at=NOW + timedelta(seconds=1))
    assert matches(ending, bash("x"), NOW)
    assert not matches(ending, bash("x"), NOW + timedelta(seconds=1))


def test_no_rule_no_judgement() -> None:
    assert judge([], bash("x"), NOW) is None
    assert judge([rule("Read")], bash("x"), NOW) is None


@pytest.mark.parametrize(
    "more",
    [
        {"scope": Scope.SESSION},
        {"scope": Scope.ONCE},
        {"scope": Scope.PROJECT},
        {"expires_at": datetime(2026, 1, 1)},  # noqa: DTZ001 - the point of the test
    ],
)
def test_a_rule_that_lacks_something_cannot_be_made(more: dict[str, Any]) -> None:
    with pytest.raises(RuleError, match="needs"):
        rule("Bash", **more)


@pytest.mark.parametrize(("tool", "pattern"), [("*", None), ("Bash", "a; b"), ("Edit", "*")])
def test_no_way_around_the_checks_by_making_a_rule_directly(tool: str, pattern: str) -> None:
    with pytest.raises(RuleError):
        Rule(
            id="r", verdict=Verdict.ALLOW, tool=tool, pattern=pattern, scope=Scope.USER,
            by="x", at=NOW,
        )  # fmt: skip
