"""What sessions wait on, and what need not be asked again."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import FailFast, Field, model_validator

from claude_sessions import commands as c
from claude_sessions.approvals.desk import Waiting
from claude_sessions.approvals.risk import assess
from claude_sessions.approvals.rules import Rule, format_rule
from claude_sessions.errors import BadRequest, NotFound
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods.base import Method, Nothing, Params, Shape, Text
from claude_sessions.gateway.wire import timestamp
from claude_sessions.model import AskKind, PermissionMode, Risk, Scope, Verdict
from claude_sessions.people import Caller

Longer = Literal["session", "project", "user"]


class Asked(Shape):
    approval_id: str
    tool_use_id: str
    session: str
    name: str
    kind: AskKind
    tool_name: str
    input: dict[str, Any]
    risk_level: Risk
    risk_reasons: list[str]
    questions: list[dict[str, Any]]
    suggestion: str | None
    asked_at: str


class Approvals(Shape):
    approvals: list[Asked]


class ApproveParams(Params):
    approval_id: str | None = None
    """Required, unless toolUseId is given."""
    tool_use_id: str | None = None
    decision: Verdict
    scope: Scope = Scope.ONCE
    """once: this one alone; any other also makes a rule."""
    reason: str = ""
    """Told to Claude with a denial."""
    input: dict[str, Any] | None = None
    """To run instead of Claude's own."""
    mode: PermissionMode | None = None
    """With a plan: the mode to go on in."""
    answers: Annotated[tuple[Text, ...], FailFast(), Field(max_length=20)] = ()
    """One a question, in their order: an option's label or number, or words of one's own."""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if not (self.approval_id or self.tool_use_id):
            raise ValueError("Missing required parameter: approvalId or toolUseId")
        return self


class Decided(Shape):
    approval_id: str
    decision: Verdict
    persisted: bool
    scope: Scope
    text: str


class Kept(Shape):
    id: str
    verdict: Verdict
    pattern: str
    scope: Scope
    session: str | None
    directory: str | None
    expires_at: str | None
    by: str
    at: str


class Rules(Shape):
    rules: list[Kept]
    trusted: list[str]


class AddParams(Params):
    verdict: Verdict
    pattern: Text
    """As `Bash(npm test)`."""
    scope: Longer = "project"
    session: str | None = None
    """The one that is meant, or (with the scope project) whose directory is."""
    directory: str | None = None
    seconds: Annotated[float | None, Field(gt=0, le=315_360_000)] = None
    """Default: until it is revoked."""


class RuleParams(Params):
    rule: Text
    """Its id."""


class Changed(Shape):
    rule: str
    text: str


async def approvals(house: House, params: Nothing, caller: Caller) -> Any:
    await house.perform(c.ListApprovals(), caller)
    return {"approvals": [asked(each) for each in house.pool.desk.waiting()]}


def asked(waiting: Waiting) -> dict[str, Any]:
    state, ask = waiting.state, waiting.ask
    risk = assess(ask.tool_name, ask.input, state.spec.directory)
    return {
        "approvalId": waiting.id,
        "toolUseId": ask.tool_use_id,
        "session": state.id,
        "name": state.name,
        "kind": waiting.kind.value,
        "toolName": ask.tool_name,
        "input": dict(ask.input),
        "riskLevel": risk.risk.value,
        "riskReasons": list(risk.reasons),
        "questions": waiting.questions,
        "suggestion": waiting.suggestion,
        "askedAt": timestamp(waiting.asked_at),
    }


async def approve(house: House, params: ApproveParams, caller: Caller) -> Any:
    return await decided(house, params, caller)


async def decided(house: House, params: ApproveParams, caller: Caller) -> dict[str, Any]:
    """Also for other dialects that name an approval in either way."""
    reply = await house.perform(_deciding(house, params), caller)
    lasting = params.scope is not Scope.ONCE and not params.answers
    return {
        "approvalId": reply.data["approvalId"],
        "decision": params.decision.value,
        "persisted": lasting,
        "scope": params.scope.value,
        "text": reply.text,
    }


def _deciding(house: House, params: ApproveParams) -> c.Command:
    approval = params.approval_id or approval_of(house, params.tool_use_id or "")
    if params.answers:
        if params.decision is Verdict.DENY:
            raise BadRequest("answers go with the decision allow.")
        return c.Answer(approval=approval, answers=params.answers)
    return c.Decide(
        approval=approval,
        verdict=params.decision,
        scope=params.scope,
        reason=params.reason,
        input=params.input,
        mode=params.mode,
    )


def approval_of(house: House, tool_use_id: str) -> str:
    """What waits on this use of a tool."""
    for waiting in house.pool.desk.waiting():
        if waiting.ask.tool_use_id == tool_use_id:
            return waiting.id
    raise NotFound(f"Nothing waits on the tool use {tool_use_id[:80]!r}.")


async def rules(house: House, params: Nothing, caller: Caller) -> Any:
    await house.perform(c.ListRules(), caller)
    pool = house.pool
    return {"rules": [_rule(rule) for rule in pool.rules.active()], "trusted": pool.trust.all()}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "verdict": rule.verdict.value,
        "pattern": format_rule(rule.tool, rule.pattern),
        "scope": rule.scope.value,
        "session": rule.session,
        "directory": rule.directory,
        "expiresAt": timestamp(rule.expires_at) if rule.expires_at else None,
        "by": rule.by,
        "at": timestamp(rule.at),
    }


async def add_rule(house: House, params: AddParams, caller: Caller) -> Any:
    command = c.AddRule(
        verdict=params.verdict,
        pattern=params.pattern,
        scope=Scope(params.scope),
        session=params.session,
        directory=params.directory,
        lifetime=timedelta(seconds=params.seconds) if params.seconds else None,
    )
    reply = await house.perform(command, caller)
    return {"rule": reply.data["rule"], "text": reply.text}


async def revoke_rule(house: House, params: RuleParams, caller: Caller) -> Any:
    reply = await house.perform(c.RevokeRule(rule=params.rule), caller)
    return {"rule": reply.data["rule"], "text": reply.text}


METHODS: tuple[Method[Any], ...] = (
    Method(
        name="claude-code.approvals",
        summary="All that waits for a decision.",
        params=Nothing,
        result=Approvals,
        act=approvals,
    ),
    Method(
        name="claude-code.approve",
        summary="Allow or deny what a session asks, or answer its question. The first one counts.",
        params=ApproveParams,
        result=Decided,
        act=approve,
    ),
    Method(
        name="claude-code.rules",
        summary="What is allowed or denied without asking, and the directories that are trusted.",
        params=Nothing,
        result=Rules,
        act=rules,
    ),
    Method(
        name="claude-code.rules.add",
        summary="Make a rule, for some seconds or until it is revoked.",
        params=AddParams,
        result=Changed,
        act=add_rule,
    ),
    Method(
        name="claude-code.rules.revoke",
        summary="Take a rule back.",
        params=RuleParams,
        result=Changed,
        act=revoke_rule,
    ),
)
