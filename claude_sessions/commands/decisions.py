"""Replies about what waits for a decision, what was decided, and the rules that decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from claude_sessions.approvals.desk import Receipt, Waiting
from claude_sessions.approvals.preview import preview
from claude_sessions.approvals.risk import assess
from claude_sessions.approvals.rules import Rule, format_rule
from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.figures import since, span
from claude_sessions.model import AskKind, Risk, Scope, Verdict
from claude_sessions.state import SessionState

SHOWN = 20
PRESSABLE = 10

_HARMLESS = frozenset({"description", "timeout", "run_in_background"})
_RISKS = (Risk.HIGH, Risk.MEDIUM, Risk.LOW)
_ALLOWED = {
    Scope.ONCE: "Allowed once",
    Scope.SESSION: "Allowed for this session",
    Scope.PROJECT: "Always allowed here",
    Scope.USER: "Always allowed everywhere",
}
_DENIED = {
    Scope.ONCE: "Denied",
    Scope.SESSION: "Denied for this session",
    Scope.PROJECT: "Always denied here",
    Scope.USER: "Always denied everywhere",
}


def approvals(waiting: Sequence[Waiting], now: datetime) -> tuple[str, tuple[Action, ...]]:
    """All that waits, the highest risk first, then the longest waiting."""
    if not waiting:
        return "Nothing waits for you.", ()
    ordered = sorted(waiting, key=lambda w: (_RISKS.index(_risk(w)), w.asked_at))
    titled = list(zip(_titles(ordered), ordered, strict=True))
    lines = [f"⚠️ {len(waiting)} {'waits' if len(waiting) == 1 else 'wait'} for you"]
    for title, asked in titled[:SHOWN]:
        lines += _asked(title, asked, now)
    if len(ordered) > SHOWN:
        lines.append(f"… and {len(ordered) - SHOWN} more.")
    presses = [each for title, asked in titled[:PRESSABLE] for each in _presses(title, asked)]
    return "\n".join(lines), tuple(presses)


def _titles(waiting: Sequence[Waiting]) -> list[str]:
    """The session's name; one that waits on several things has them counted."""
    of_each = Counter(each.state.id for each in waiting)
    seen: Counter[str] = Counter()
    titles = []
    for each in waiting:
        seen[each.state.id] += 1
        number = f" ({seen[each.state.id]})" if of_each[each.state.id] > 1 else ""
        titles.append(each.state.name + number)
    return titles


def _risk(waiting: Waiting) -> Risk:
    if waiting.kind is not AskKind.TOOL:
        return Risk.MEDIUM
    ask = waiting.ask
    return assess(ask.tool_name, ask.input, waiting.state.spec.directory).risk


def _asked(title: str, waiting: Waiting, now: datetime) -> list[str]:
    word = f"{_risk(waiting)} risk" if waiting.kind is AskKind.TOOL else waiting.kind.value
    tool = f"{one_line(waiting.ask.tool_name, 60)}  " if waiting.kind is AskKind.TOOL else ""
    age = span(since(waiting.asked_at, now))
    what, _ = _told(waiting)
    return [f"{title} · {word} · {age} · {waiting.id}", f"   {tool}{what}".rstrip()]


def _told(waiting: Waiting) -> tuple[str, bool]:
    """What it is about, in a line, and whether that line says all."""
    ask = waiting.ask
    seen = preview(ask.tool_name, ask.input, waiting.state.spec.directory)
    alone = len(set(ask.input) - _HARMLESS) == 1
    whole = alone and len(seen.body) <= 200 and "\n" not in seen.body
    return (seen.body if whole else seen.summary), whole


def _presses(title: str, waiting: Waiting) -> list[Action]:
    """Nobody allows with one press what this list does not show whole: that is shown first."""
    ref = waiting.id
    if waiting.kind is AskKind.QUESTION:
        return _answers(title, waiting)
    allow = Action(label=f"Allow {title}", line=f"/allow {ref}", row=ref)
    deny = Action(label=f"Deny {title}", line=f"/deny {ref}", row=ref)
    show = Action(label=f"Show {title}", line=f"/approvals {ref}", row=ref)
    if waiting.kind is AskKind.PLAN:
        more = Action(label="Keep planning…", line=f"/deny {ref} ", needs_text=True, row=ref)
        return [show, replace(allow, label=f"Go {title}"), more]
    _, whole = _told(waiting)
    return [allow if whole else show, deny]


def _answers(title: str, waiting: Waiting) -> list[Action]:
    ref = waiting.id
    own = Action(label=f"{title}: your own answer", line=f"/answer {ref} ", needs_text=True)
    questions = waiting.questions
    if len(questions) != 1 or questions[0].get("multiSelect"):
        return [own]
    options = [each for each in questions[0].get("options") or () if isinstance(each, Mapping)]
    labels = [one_line(str(option.get("label", "")), 30) for option in options]
    return [
        *(
            Action(label=f"{title}: {label}", line=f"/answer {ref} {number}")
            for number, label in enumerate(labels, 1)
        ),
        own,
    ]


def verdict_line(
    decision: str,
    *,
    by: str,
    at: datetime,
    scope: Scope = Scope.ONCE,
    reason: str = "",
    edited: bool = False,
    given: bool = False,
    seen: bool = False,
    zone: tzinfo | None = None,
) -> str:
    """`✅ Allowed once by owner (Telegram) 14:03 · given to Claude`. No zone: this machine's."""
    match decision:
        case Verdict.ALLOW:
            what = f"✅ {_ALLOWED[scope]}{', with changes,' if edited else ''}"
        case Verdict.DENY:
            what = f"❌ {_DENIED[scope]}"
        case _:
            what = f"▫️ {one_line(decision, 40).capitalize()}"
    parts = [f"{what} by {one_line(by, 60)} {at.astimezone(zone):%H:%M}"]
    if reason:
        parts.append(f"“{one_line(reason, 120)}”")
    if seen:
        parts.append("result seen")
    elif given:
        parts.append("given to Claude")
    return " · ".join(parts)


def decided(state: SessionState, receipt: Receipt, *, zone: tzinfo | None = None) -> str:
    lines = [
        verdict_line(
            receipt.decision, by=receipt.by, at=receipt.at, scope=receipt.scope, zone=zone
        ),
        f"{state.name} · {one_line(receipt.tool_name, 60)}",
    ]
    if (rule := receipt.rule) is not None:
        made = one_line(format_rule(rule.tool, rule.pattern), 120)
        lines.append(f"New rule {rule.id}: {made} (/rules revoke {rule.id})")
    return "\n".join(lines)


def rules(made: Sequence[Rule], trusted: Sequence[str] = ()) -> tuple[str, tuple[Action, ...]]:
    """Denials first: they win."""
    ordered = sorted(made, key=lambda r: (r.verdict is not Verdict.DENY, r.scope, r.at))
    lines = [line for rule in ordered for line in _rule(rule)]
    if not lines:
        lines.append("No rules yet: everything that needs a decision is asked.")
    if trusted:
        lines += ["Trusted directories:", *(f"   {one_line(path, 100)}" for path in trusted)]
    return "\n".join(lines), tuple(_revoke(rule) for rule in ordered[:SHOWN])


def _revoke(rule: Rule) -> Action:
    """The id tells two apart that differ only in where they hold."""
    what = one_line(format_rule(rule.tool, rule.pattern), 20)
    return Action(label=f"Revoke {what} {rule.id}", line=f"/rules revoke {rule.id}")


def _rule(rule: Rule) -> list[str]:
    icon = "⛔" if rule.verdict is Verdict.DENY else "✅"
    where = {
        Scope.SESSION: f"session {rule.session}",
        Scope.PROJECT: f"in {one_line(rule.directory or '?', 60)}",
        Scope.USER: "everywhere",
    }.get(rule.scope, rule.scope.value)
    until = f" · until {rule.expires_at:%Y-%m-%d %H:%M} UTC" if rule.expires_at else ""
    return [
        f"{icon} {rule.id}  {one_line(format_rule(rule.tool, rule.pattern), 120)}",
        f"   {where} · by {one_line(rule.by, 60)} {rule.at:%Y-%m-%d}{until}",
    ]
