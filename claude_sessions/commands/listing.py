"""How sessions stand, in a line or a few each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Protocol, TypeVar

from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.figures import (
    ago,
    clock,
    count,
    duration,
    moment,
    money,
    ordinal,
    since,
    span,
)
from claude_sessions.model import Reason, Status
from claude_sessions.state import Pending, SessionState

ICONS: dict[Status, str] = {
    Status.STARTING: "🟡",
    Status.RUNNING: "🟢",
    Status.ASLEEP: "💤",
    Status.PARKED: "⏸",
    Status.IN_TERMINAL: "💻",
    Status.COMPLETED: "✅",
    Status.FAILED: "❌",
    Status.KILLED: "⛔",
}
Some = TypeVar("Some", bound="Listed")

NEEDS_YOU = "⚠️"
LISTED = 40
PRESSABLE = 8  # rows with buttons
RESUMABLE = 15


class Listed(Protocol):
    """A session as a list shows it: a live state, or a row of the index."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def reason(self) -> Reason | None: ...
    @property
    def directory(self) -> str: ...
    @property
    def prompt(self) -> str: ...
    @property
    def updated_at(self) -> datetime: ...
    @property
    def run_started_at(self) -> datetime: ...
    @property
    def run_ended_at(self) -> datetime | None: ...
    @property
    def turn(self) -> str | None: ...
    @property
    def turn_started_at(self) -> datetime | None: ...
    @property
    def pending(self) -> tuple[Pending, ...]: ...
    @property
    def in_line(self) -> bool: ...
    @property
    def resets_at(self) -> float | None: ...
    @property
    def cost_usd(self) -> float: ...
    @property
    def cost_unknown(self) -> bool: ...


def icon(state: Listed) -> str:
    return NEEDS_YOU if state.pending else ICONS[state.status]


def doing(state: Listed, now: datetime) -> str:
    """`working 0:42`, `waits for you 5 min`, `asleep 3 h`, `done 2 d ago`."""
    if state.pending:
        return f"waits for you {span(since(state.pending[0].at, now))}"
    age = since(state.updated_at, now)
    match state.status:
        case Status.STARTING:
            return f"starting {clock(since(state.run_started_at, now))}"
        case Status.RUNNING if state.turn_started_at:
            return f"working {clock(since(state.turn_started_at, now))}"
        case Status.RUNNING:
            return f"idle {span(age)}"
        case Status.IN_TERMINAL:
            return f"in a terminal {span(age)}"
        case Status.ASLEEP if state.in_line:
            return f"in line {span(age)}"
        case Status.PARKED if state.resets_at is not None:
            return f"parked until {moment(state.resets_at, now)}"
        case Status.ASLEEP if state.reason is Reason.PAUSED:
            return f"paused {span(age)}"
        case Status.ASLEEP | Status.PARKED:
            return f"{state.status} {span(age)}"
    word = "done" if state.status is Status.COMPLETED else state.status.value
    return f"{word} {ago(state.run_ended_at or state.updated_at, now)}"


def listing(
    states: Sequence[Listed],
    now: datetime,
    *,
    total: int | None = None,
    branches: Mapping[str, str] | None = None,
) -> str:
    """Who needs you comes first, then who works; what has ended comes last, the newest first.

    `total`: how many there are, where `states` has only those that may be shown.
    `branches`: directory → `main*`, as far as known.
    """
    if not states:
        return "No sessions. /new and a prompt starts one."
    rows = _rows(by_rank(states)[:LISTED], now, branches or {})
    return _with_summary(rows, states, total)


def narrow_listing(
    states: Sequence[Listed],
    now: datetime,
    *,
    total: int | None = None,
    branches: Mapping[str, str] | None = None,
) -> str:
    """The same where columns do not stand below each other, and lines are short."""
    if not states:
        return listing(states, now)
    known = branches or {}
    rows = [
        f"{icon(s)} {s.name} · {doing(s, now)}\n   {folder(s, known.get(s.directory))} · {spent(s)}"
        for s in by_rank(states)[:LISTED]
    ]
    return _with_summary(rows, states, total)


def session_actions(states: Sequence[Listed]) -> tuple[Action, ...]:
    """A row each for those that stand first."""
    foremost = by_rank(states)[:PRESSABLE]
    return tuple(action for state in foremost for action in _on_row(state))


def _on_row(state: Listed) -> list[Action]:
    words = {"Foreground": "fg", "Stop": "kill"}
    if state.status.ended:
        words = {"Foreground": "fg", "Resume": "resume"}
    elif not state.status.has_process:
        words = {"Foreground": "fg", "Resume": "resume", "Stop": "kill"}
    return [
        Action(label=f"{label} {state.name}", line=f"/{verb} {state.id}", row=state.id)
        for label, verb in words.items()
    ]


def full_listing(states: Sequence[SessionState], now: datetime, *, total: int | None = None) -> str:
    if not states:
        return listing(states, now)
    shown = by_rank(states)[:LISTED]
    return _with_summary([_entry(state, now) for state in shown], states, total)


def _with_summary(lines: list[str], states: Sequence[Listed], total: int | None) -> str:
    total = len(states) if total is None else total
    if total > len(lines):
        lines.append(f"… and {total - len(lines):,} more")
    return "\n".join([*lines, _summary(states, total)])


def by_rank(states: Sequence[Some]) -> list[Some]:
    return sorted(states, key=lambda s: (_rank(s), -s.updated_at.timestamp()))


def _rank(state: Listed) -> int:
    if state.pending:
        return 0
    if state.status.has_process:
        return 1 if state.turn or state.status is Status.STARTING else 2
    return 4 if state.status.ended else 3


def _rows(states: Sequence[Listed], now: datetime, branches: Mapping[str, str]) -> list[str]:
    cells = [(s.name, doing(s, now), folder(s, branches.get(s.directory))) for s in states]
    names, deeds, folders = (max(map(len, column)) for column in zip(*cells, strict=True))
    return [
        f"{name:{names}}  {icon(state)} {deed:{deeds}}  {folder:{folders}}  {spent(state)}"
        for state, (name, deed, folder) in zip(states, cells, strict=True)
    ]


def _entry(state: SessionState, now: datetime) -> str:
    place = "foreground" if state.foreground else "background"
    turns = "single" if state.spec.once else "multi-turn"
    head = f"{icon(state)} {state.name} [{state.id}] ({duration(state.duration(now))})"
    lines = [
        f"{head} — {place}, {turns}",
        f"   {doing(state, now)} · {spent(state)}",
        f"   📁 {one_line(state.spec.directory, 100)}",
        f'   📝 "{one_line(state.prompt, 80)}"',
    ]
    if state.claude_id:
        lines.append(f"   🔗 {state.claude_id}")
    if state.runs > 1:
        lines.append(f"   ↩️ Resumed, {ordinal(state.runs)} run")
    return "\n".join(lines)


def _summary(states: Sequence[Listed], total: int) -> str:
    working = sum(s.status.has_process and bool(s.turn) and not s.pending for s in states)
    waiting = sum(bool(s.pending) for s in states)
    parts = [count(total, "session")]
    if working:
        parts.append(f"{working} working")
    if waiting:
        parts.append(f"{waiting} {'needs' if waiting == 1 else 'need'} you")
    return " · ".join(parts)


def resumable(states: Sequence[Listed], now: datetime, *, total: int | None = None) -> str:
    if not states:
        return "There is nothing to resume."
    total = len(states) if total is None else total
    newest = sorted(states, key=lambda s: s.updated_at, reverse=True)
    lines = []
    for state in newest[:RESUMABLE]:
        facts = (doing(state, now), folder(state), spent(state))
        lines.append(f"{icon(state)} {state.name} · {' · '.join(facts)}")
        lines.append(f'   📝 "{one_line(state.prompt, 80)}"')
    if total > len(newest[:RESUMABLE]):
        lines.append(f"… and {total - len(newest[:RESUMABLE]):,} more")
    return "\n".join([*lines, "/resume NAME goes on with one; --fork branches off."])


def folder(state: Listed, branch: str | None = None) -> str:
    """`web`, `web (main*)`."""
    name = one_line(PurePath(state.directory).name or state.directory, 24)
    return f"{name} ({one_line(branch, 24)})" if branch else name


def spent(state: Listed) -> str:
    return f"{money(state.cost_usd)}{'+?' if state.cost_unknown else ''}"
