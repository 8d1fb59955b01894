"""What people have decided once and for longer: rules, and which of them speaks.

A deny beats an allow in every scope; then the narrower scope; then the more specific pattern.

For Bash the two verdicts read a pattern differently, on purpose. An ALLOW matches one plain
command and never a compound one: nothing with ; && || | & or a line break, no $(…), backticks or
<(…), no subshell, no redirection that writes. A DENY matches if ANY simple command within the text
does, however it is joined, quoted or wrapped, so that `true; rm -rf x` does not get past
`Bash(rm *)`. Text that cannot be read is not allowed by a pattern, and is denied by one whose
words it mentions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from claude_sessions.approvals.calls import ToolCall
from claude_sessions.approvals.matching import allows, denies
from claude_sessions.approvals.paths import absolute, is_inside
from claude_sessions.approvals.patterns import RuleError, check_rule, format_rule, parse_rule
from claude_sessions.approvals.suggestions import Suggested, from_suggestions, suggest
from claude_sessions.approvals.wildcards import specificity
from claude_sessions.model import WORKTREES, Scope, Verdict

__all__ = [
    "Judgement",
    "Rule",
    "RuleError",
    "Suggested",
    "ToolCall",
    "format_rule",
    "from_suggestions",
    "judge",
    "matches",
    "parse_rule",
    "suggest",
]

_NARROWEST_FIRST = (Scope.ONCE, Scope.SESSION, Scope.PROJECT, Scope.USER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    id: str
    verdict: Verdict
    tool: str
    pattern: str | None
    scope: Scope
    session: str | None = None
    directory: str | None = None
    expires_at: datetime | None = None
    by: str
    at: datetime
    note: str = ""

    def __post_init__(self) -> None:
        check_rule(self.tool, self.pattern, self.verdict)
        if self.scope in (Scope.ONCE, Scope.SESSION) and not self.session:
            raise RuleError(f"A rule for {self.scope} needs its session.")
        if self.scope is Scope.PROJECT and not self.directory:
            raise RuleError("A rule for a project needs its directory.")
        if self.expires_at is not None and self.expires_at.tzinfo is None:
            raise RuleError("The expiry of a rule needs a time zone.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    verdict: Verdict
    rule: Rule


def matches(rule: Rule, request: ToolCall, now: datetime) -> bool:
    if rule.expires_at is not None and rule.expires_at <= now:
        return False
    if not _in_scope(rule, request):
        return False
    speaks = allows if rule.verdict is Verdict.ALLOW else denies
    return speaks(rule.tool, rule.pattern, request)


def judge(rules: Iterable[Rule], request: ToolCall, now: datetime) -> Judgement | None:
    """The order in which the rules come does not matter."""
    speaking = [rule for rule in rules if matches(rule, request, now)]
    if not speaking:
        return None
    rule = min(speaking, key=_precedence)
    return Judgement(verdict=rule.verdict, rule=rule)


def _in_scope(rule: Rule, request: ToolCall) -> bool:
    match rule.scope:
        case Scope.ONCE | Scope.SESSION:
            return rule.session == request.session
        case Scope.PROJECT:
            return _in_project(rule, request)
        case Scope.USER:
            return True


def _in_project(rule: Rule, request: ToolCall) -> bool:
    """A denial holds below its directory too; whatever holds there holds in its worktrees."""
    here = absolute(request.project_directory, "/", request.home)
    root = absolute(rule.directory or "", "/", request.home)
    if rule.verdict is Verdict.DENY:
        return is_inside(here, root)
    return here == root or is_inside(here, f"{root}/{WORKTREES}")


def _precedence(rule: Rule) -> tuple[bool, int, int, int, int, str]:
    exactness, length = specificity(rule.pattern)
    return (
        rule.verdict is Verdict.ALLOW,
        _NARROWEST_FIRST.index(rule.scope),
        -exactness,
        -length,
        -len(rule.tool.removesuffix("*")),
        rule.id,
    )
