"""The rules and the trusted directories that people have made, kept as documents."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pydantic import BaseModel

from claude_sessions import events as e
from claude_sessions.approvals.rules import (
    Judgement,
    Rule,
    ToolCall,
    format_rule,
    judge,
    parse_rule,
)
from claude_sessions.clock import Clock
from claude_sessions.errors import NotFound
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Scope, Verdict, new_id
from claude_sessions.storage.documents import Documents


class RuleDocument(BaseModel):
    verdict: Verdict
    tool: str
    pattern: str | None = None
    scope: Scope
    session: str | None = None
    directory: str | None = None
    expires_at: datetime | None = None
    by: str
    at: datetime
    note: str = ""


class TrustDocument(BaseModel):
    by: str
    at: datetime


class RuleBook:
    """Deny beats allow; the log has who added or revoked what."""

    def __init__(self, documents: Documents, log: EventLog, clock: Clock) -> None:
        self._table = documents.table("rules", RuleDocument)
        self._log = log
        self._clock = clock

    def all(self) -> list[Rule]:
        return [Rule(id=rule_id, **doc.model_dump()) for rule_id, doc in self._table.all().items()]

    def active(self) -> list[Rule]:
        now = self._clock.now()
        return [rule for rule in self.all() if rule.expires_at is None or rule.expires_at > now]

    def find(self, rule_id: str) -> Rule:
        for rule in self.all():
            if rule.id == rule_id:
                return rule
        raise NotFound(f"There is no rule {rule_id}. /rules lists them.")

    def judge(self, call: ToolCall) -> Judgement | None:
        return judge(self.all(), call, self._clock.now())

    def make(
        self,
        pattern: str,
        *,
        verdict: Verdict,
        scope: Scope,
        by: str,
        session: str | None = None,
        directory: str | None = None,
        expires_at: datetime | None = None,
    ) -> Rule:
        tool, inner = parse_rule(pattern, verdict=verdict)
        return Rule(
            id=new_id(),
            verdict=verdict,
            tool=tool,
            pattern=inner,
            scope=scope,
            session=session if scope is Scope.SESSION else None,
            directory=directory if scope is Scope.PROJECT else None,
            expires_at=expires_at,
            by=by,
            at=self._clock.now(),
            note="",
        )

    async def add(self, *rules: Rule, caller: str, also: tuple[e.Draft, ...] = ()) -> None:
        """`also`: facts that belong with the rules, in the same commit."""
        await self._log.append(*also, *(_added(rule, caller) for rule in rules))
        for rule in rules:
            self._table.put(rule.id, _document(rule))

    async def revoke(self, rule_id: str, caller: str) -> Rule:
        rule = self.find(rule_id)
        await self._log.append(e.Draft(payload=e.RuleRemoved(rule_id=rule_id), caller=caller))
        self._table.remove(rule_id)
        return rule


def _document(rule: Rule) -> RuleDocument:
    names = RuleDocument.model_fields
    return RuleDocument(**{name: getattr(rule, name) for name in names})


def _added(rule: Rule, caller: str) -> e.Draft:
    return e.Draft(
        payload=e.RuleAdded(
            rule_id=rule.id,
            verdict=rule.verdict,
            pattern=format_rule(rule.tool, rule.pattern),
            scope=rule.scope,
            directory=rule.directory,
            expires_at=rule.expires_at.timestamp() if rule.expires_at else None,
        ),
        session=rule.session,
        caller=caller,
    )


class TrustBook:
    """Directories whose own hooks, MCP servers and CLAUDE.md may take part."""

    def __init__(self, documents: Documents, log: EventLog, clock: Clock) -> None:
        self._table = documents.table("trust", TrustDocument)
        self._log = log
        self._clock = clock

    def all(self) -> list[str]:
        return sorted(self._table.all())

    def covers(self, directory: str) -> bool:
        path = Path(directory)
        return any(path.is_relative_to(trusted) for trusted in self._table.all())

    async def give(self, directory: str, caller: str) -> None:
        await self._log.append(e.Draft(payload=e.TrustGiven(directory=directory), caller=caller))
        self._table.put(directory, TrustDocument(by=caller, at=self._clock.now()))

    async def revoke(self, directory: str, caller: str) -> None:
        if directory not in self._table.all():
            raise NotFound(f"{directory} was not trusted.")
        await self._log.append(e.Draft(payload=e.TrustRevoked(directory=directory), caller=caller))
        self._table.remove(directory)
