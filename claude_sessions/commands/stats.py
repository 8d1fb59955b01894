"""Figures over all runs. Each run is counted once: when it ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from claude_sessions.approvals.visible import one_line
from claude_sessions.commands.figures import count, duration, money
from claude_sessions.events import Event, SessionEnded
from claude_sessions.model import Status
from claude_sessions.state import SessionState

DAYS_SHOWN = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    total_cost_usd: float
    cost_per_day: Mapping[str, float]  # ISO date in UTC → dollars
    by_status: Mapping[str, int]
    total_launched: int
    average_duration_ms: int
    most_expensive: tuple[str, str, float, str] | None  # id, name, dollars, prompt
    cost_unknown_runs: int


def tally(
    ended: Iterable[Event],
    *,
    names: Mapping[str, str],
    launched: int,
    running: int,
    prompts: Mapping[str, str] | None = None,
    live: Iterable[SessionState] = (),
) -> Metrics:
    """`ended`: the `session.ended` events; others are passed over.

    `live`: sessions whose run goes on; its money so far counts on the day it last did something.
    """
    statuses: Counter[str] = Counter({status.value: 0 for status in _ENDINGS})
    days: defaultdict[str, float] = defaultdict(float)
    sessions: defaultdict[str, float] = defaultdict(float)
    durations: list[int] = []
    unknown = 0
    for event in ended:
        if isinstance(run := event.payload, SessionEnded):
            statuses[run.status.value] += 1
            days[event.at.date().isoformat()] += run.cost_usd
            sessions[event.session or ""] += run.cost_usd
            durations.append(run.duration_ms)
            unknown += run.cost_unknown
    for state in live:
        days[state.updated_at.date().isoformat()] += state.run_cost_usd
        sessions[state.id] += state.run_cost_usd
    return Metrics(
        total_cost_usd=sum(days.values()),
        cost_per_day={day: days[day] for day in sorted(days)},
        by_status={**statuses, Status.RUNNING.value: running},
        total_launched=launched,
        average_duration_ms=sum(durations) // len(durations) if durations else 0,
        most_expensive=_dearest(sessions, names, prompts or {}),
        cost_unknown_runs=unknown,
    )


_ENDINGS = (Status.COMPLETED, Status.FAILED, Status.KILLED)


def _dearest(
    costs: Mapping[str, float], names: Mapping[str, str], prompts: Mapping[str, str]
) -> tuple[str, str, float, str] | None:
    if not any(costs.values()):
        return None
    session = max(costs, key=lambda key: costs[key])
    return session, names.get(session, session), costs[session], prompts.get(session, "")


def stats(metrics: Metrics) -> str:
    statuses = [f"{number} {name}" for name, number in metrics.by_status.items() if number]
    lines = [f"📊 {metrics.total_launched:,} launched · {money(metrics.total_cost_usd)}"]
    if statuses:
        lines.append(" · ".join(statuses))
    if metrics.average_duration_ms:
        lines.append(f"A run takes {duration(metrics.average_duration_ms / 1000)} on average.")
    if metrics.most_expensive:
        session, name, cost, prompt = metrics.most_expensive
        lines.append(f"Most expensive: {name} [{session}] {money(cost)}")
        if prompt:
            lines.append(f'   📝 "{one_line(prompt, 80)}"')
    lines += _days(metrics.cost_per_day)
    if metrics.cost_unknown_runs:
        runs = count(metrics.cost_unknown_runs, "run")
        lines.append(f"{runs} cut off: what the last turn cost is unknown and not in the sum.")
    return "\n".join(lines)


def _days(costs: Mapping[str, float]) -> list[str]:
    spent = [(day, cost) for day, cost in sorted(costs.items(), reverse=True) if cost]
    shown = [f"{day}  {money(cost)}" for day, cost in spent[:DAYS_SHOWN]]
    if older := sum(cost for _, cost in spent[DAYS_SHOWN:]):
        shown.append(f"earlier  {money(older)}")
    return shown


def metrics_data(metrics: Metrics) -> dict[str, Any]:
    """The same for a program, in the names of the seed's stats call."""
    dearest = metrics.most_expensive
    return {
        "totalCostUsd": metrics.total_cost_usd,
        "costPerDay": dict(metrics.cost_per_day),
        "sessionsByStatus": dict(metrics.by_status),
        "totalLaunched": metrics.total_launched,
        "averageDurationMs": metrics.average_duration_ms,
        "mostExpensive": dearest
        and {
            "id": dearest[0],
            "name": dearest[1],
            "costUsd": dearest[2],
            "prompt": one_line(dearest[3], 80),
        },
        "costUnknownRuns": metrics.cost_unknown_runs,
    }
