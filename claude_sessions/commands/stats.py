"""Figures over all runs. Each run is counted once, when it ends; each turn's money when it ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from claude_sessions.approvals.visible import one_line
from claude_sessions.commands.figures import count, duration, money
from claude_sessions.model import Status
from claude_sessions.storage.figures import Dearest, Sums

DAYS_SHOWN = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    total_cost_usd: float
    cost_per_day: Mapping[str, float]  # ISO date → dollars
    by_status: Mapping[str, int]
    total_launched: int
    average_duration_ms: int
    most_expensive: Dearest | None
    cost_unknown_runs: int


def tally(sums: Sums, *, running: int, zone: tzinfo | None = None) -> Metrics:
    """`zone`: whose days are meant; None: this machine's."""
    days: defaultdict[str, float] = defaultdict(float)
    for at, usd in sums.spending:
        days[at.astimezone(zone).date().isoformat()] += usd
    ended = {status.value: sums.counts.get(status.value, 0) for status in _ENDINGS}
    runs = sum(ended.values())
    return Metrics(
        total_cost_usd=sum(days.values()),
        cost_per_day={day: days[day] for day in sorted(days)},
        by_status={**ended, Status.RUNNING.value: running},
        total_launched=sums.counts.get("launched", 0),
        average_duration_ms=sums.counts.get("duration", 0) // runs if runs else 0,
        most_expensive=sums.dearest,
        cost_unknown_runs=sums.counts.get("unknown", 0),
    )


_ENDINGS = (Status.COMPLETED, Status.FAILED, Status.KILLED)


def stats(metrics: Metrics) -> str:
    statuses = [f"{number} {name}" for name, number in metrics.by_status.items() if number]
    lines = [f"📊 {metrics.total_launched:,} launched · {money(metrics.total_cost_usd)}"]
    if statuses:
        lines.append(" · ".join(statuses))
    if metrics.average_duration_ms:
        lines.append(f"A run takes {duration(metrics.average_duration_ms / 1000)} on average.")
    if metrics.most_expensive:
        dearest = metrics.most_expensive
        lines.append(f"Most expensive: {dearest.name} [{dearest.id}] {money(dearest.cost_usd)}")
        if dearest.prompt:
            lines.append(f'   📝 "{one_line(dearest.prompt, 80)}"')
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
            "id": dearest.id,
            "name": dearest.name,
            "costUsd": dearest.cost_usd,
            "prompt": one_line(dearest.prompt, 80),
        },
        "costUnknownRuns": metrics.cost_unknown_runs,
    }
