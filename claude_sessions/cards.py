"""Cards: what a person needs to decide, what they can press, and how it was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from claude_sessions import events as e
from claude_sessions.approvals.calls import EDIT_TOOLS, text_of
from claude_sessions.approvals.desk import CANCELLED
from claude_sessions.approvals.paths import absolute, home_directory, is_inside
from claude_sessions.approvals.preview import clip, preview
from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action, Card, Kind, Notification, Question
from claude_sessions.commands.decisions import verdict_line
from claude_sessions.model import AskKind, PermissionMode, Risk, Verdict
from claude_sessions.state import SessionState
from claude_sessions.wording import line, lines, local_time

GIVEN = " · given to Claude"
NOT_GIVEN = " · it had stopped before Claude was given it"
GONE = "⚪ No longer asked"
LABEL = 200
READABLE = 1_000_000  # bytes of a file that is to be changed, for the sake of the difference


# --- asked


def asked(state: SessionState, payload: e.ApprovalRequested | e.InputRequested) -> Notification:
    card = _card(state, payload)
    return _notification(state, card, _actions(card, payload))


def _card(state: SessionState, payload: e.ApprovalRequested | e.InputRequested) -> Card:
    directory = state.spec.directory
    if isinstance(payload, e.InputRequested):
        name, values = "AskUserQuestion", {"questions": list(payload.questions)}
        return Card(
            approval_id=payload.approval_id,
            kind=AskKind.QUESTION,
            tool_name=name,
            risk=Risk.LOW,
            risk_reasons=(),
            directory=directory,
            preview=preview(name, values, directory),
            questions=tuple(_question(question) for question in payload.questions),
        )
    current = _current(payload, directory)
    return Card(
        approval_id=payload.approval_id,
        kind=payload.kind,
        tool_name=payload.tool_name,
        risk=payload.risk_level,
        risk_reasons=payload.risk_reasons,
        directory=directory,
        preview=preview(payload.tool_name, payload.input, directory, current=current),
    )


def _question(asked: Mapping[str, Any]) -> Question:
    options = [option for option in asked.get("options") or () if isinstance(option, Mapping)]
    return Question(
        text=str(asked.get("question", "")),
        options=tuple(str(option.get("label", "")) for option in options),
        descriptions=tuple(str(option.get("description", "")) for option in options),
        multi=bool(asked.get("multiSelect")),
    )


def _current(payload: e.ApprovalRequested, directory: str) -> str | None:
    """What the file to be changed holds now. Outside the directory nobody looks."""
    if payload.tool_name not in EDIT_TOOLS:
        return None
    home = home_directory()
    path = Path(absolute(text_of(payload.input, "file_path"), directory, home))
    try:
        real = path.resolve()
        inside = is_inside(str(real), str(Path(directory).resolve()))
        if not inside or not real.is_file() or real.stat().st_size > READABLE:
            return None
        return real.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None


# --- what can be pressed


def _actions(card: Card, payload: e.ApprovalRequested | e.InputRequested) -> tuple[Action, ...]:
    match payload:
        case e.InputRequested():
            return _question_actions(card)
        case e.ApprovalRequested(kind=AskKind.PLAN):
            return _plan_actions(card.approval_id)
        case _:
            return _tool_actions(card.approval_id, lasting=payload.suggestion is not None)


def _tool_actions(approval_id: str, *, lasting: bool) -> tuple[Action, ...]:
    allow, deny = f"/allow {approval_id}", f"/deny {approval_id}"
    further = (
        Action(label="For this session", line=f"{allow} --scope session"),
        Action(label="Always here", line=f"{allow} --scope project"),
    )
    return (
        Action(label="Allow", line=allow),
        *(further if lasting else ()),
        Action(label="Deny", line=deny),
        Action(label="Deny + tell why", line=f"{deny} ", needs_text=True),
    )


def _plan_actions(approval_id: str) -> tuple[Action, ...]:
    edits = f"/allow {approval_id} --mode {PermissionMode.ACCEPT_EDITS}"
    return (
        Action(label="Go", line=f"/allow {approval_id}"),
        Action(label="Go, accept edits", line=edits),
        Action(label="Keep planning…", line=f"/deny {approval_id} ", needs_text=True),
    )


def _question_actions(card: Card) -> tuple[Action, ...]:
    own = Action(label="Your own answer", line=f"/answer {card.approval_id} ", needs_text=True)
    if len(card.questions) != 1:
        return (replace(own, label="Answer them, split by “ ; ”"),)
    options = tuple(
        Action(label=option_label(label, number), line=f"/answer {card.approval_id} {number}")
        for number, label in enumerate(card.questions[0].options, 1)
    )
    return (*options, own)


def option_label(label: str, number: int) -> str:
    """Claude may offer one on which nothing can be seen."""
    return one_line(label, LABEL) or f"Option {number}"


# --- what it says


def _notification(state: SessionState, card: Card, actions: tuple[Action, ...]) -> Notification:
    return Notification(
        kind=Kind.CARD,
        session=state.id,
        name=state.name,
        text=_text(state.name, card),
        actions=actions,
        card=card,
        final=False,
        key=f"card:{card.approval_id}",
    )


def _text(name: str, card: Card) -> str:
    shown = clip(card.preview)
    match card.kind:
        case AskKind.QUESTION:
            return lines(f"❓ {name} asks", shown.body)
        case AskKind.PLAN:
            return lines(f"📋 {name} has a plan", shown.body)
    body = "\n".join(f"  {row}" for row in shown.body.splitlines())
    return lines(
        line(f"⚠️ {name} asks", f"{card.risk} risk", *card.risk_reasons),
        shown.title,
        body,
        f"“{shown.note}”" if shown.note else "",
        "Some characters cannot be seen; they are spelled out." if shown.hidden else "",
    )


# --- decided


def decided(answer: e.ApprovalResolved | e.InputReceived, at: datetime) -> str:
    """What, by whom, when."""
    if answer.decision == CANCELLED:
        return line(f"{GONE} {local_time(at)}", answer.reason)
    if isinstance(answer, e.ApprovalResolved):
        return line(_verdict(answer, at), f"mode {answer.set_mode}" if answer.set_mode else "")
    if answer.decision == Verdict.DENY:
        return verdict_line(answer.decision, by=answer.by, at=at, reason=answer.reason)
    said = ", ".join(str(each) for each in answer.answers.values())
    return f"✅ Answered by {answer.by} {local_time(at)}: {said}"


def _verdict(answer: e.ApprovalResolved, at: datetime) -> str:
    return verdict_line(
        answer.decision,
        by=answer.by,
        at=at,
        scope=answer.scope,
        reason=answer.reason,
        edited=answer.modified_input is not None,
    )


def with_outcome(asked: Notification, said: str) -> Notification:
    """The card with an outcome, or with more of it: nothing is left to press."""
    assert asked.card is not None
    card = replace(asked.card, decided=asked.card.decided + said)
    about = f"{asked.name}: {card.tool_name}  {card.preview.summary}"
    if card.kind is not AskKind.TOOL:
        about = f"{asked.name}: {card.preview.summary}"
    settled = any(last in card.decided for last in (GIVEN, NOT_GIVEN, GONE))
    return replace(asked, text=lines(card.decided, about), actions=(), card=card, final=settled)
