"""Figures for Prometheus. What is counted is counted from the log; what stands is asked when read.

Counters begin at the daemon's start, as Prometheus expects them to.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import psutil
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from claude_sessions import __version__
from claude_sessions import events as e
from claude_sessions.approvals.desk import CANCELLED, TIMEOUT
from claude_sessions.commands.pool import Pool
from claude_sessions.gateway.visits import Visits
from claude_sessions.model import Status
from claude_sessions.router import NotificationRouter

CONTENT = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "claude_sessions"
BUCKETS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0)
KINDS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
}
REMEMBERED = 10_000  # questions that are open
PERSON = "person"


class Meter:
    """`see` every event; `read` when somebody asks."""

    def __init__(self, pool: Pool, router: NotificationRouter, visits: Visits) -> None:
        self._registry = CollectorRegistry()
        self._asked: dict[str, datetime] = {}
        self._turns = self._counter("turns", "Turns that ended, by how.", "outcome")
        self._tokens = self._counter("tokens", "Tokens, by kind.", "kind")
        self._cost = self._counter("cost_usd", "Dollars that turns have cost.")
        self._messages = self._counter("messages", "Messages to sessions.")
        self._runs = self._counter("runs", "Runs that ended, by how.", "status", "reason")
        self._decisions = self._counter(
            "approvals", "Decisions, by what was decided and by whom.", "decision", "by"
        )
        self._latency = Histogram(
            "approval_seconds",
            "From a question to a person's answer.",
            ["decision"],
            namespace=PREFIX,
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._registry.register(Standing(pool, router, visits, self._asked))

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(name, words, labels, namespace=PREFIX, registry=self._registry)

    def read(self) -> bytes:
        return generate_latest(self._registry)

    def see(self, event: e.Event) -> None:
        match event.payload:
            case e.TurnCompleted() as turn:
                self._turn_over(turn)
            case e.TurnInterrupted(cost_usd=cost):
                self._turns.labels("interrupted").inc()
                self._cost.inc(cost or 0.0)
            case e.UserMessage():
                self._messages.inc()
            case e.SessionEnded(status=status, reason=reason):
                self._runs.labels(status.value, reason.value).inc()
            case e.ApprovalRequested(approval_id=id_) | e.InputRequested(approval_id=id_):
                if len(self._asked) < REMEMBERED:
                    self._asked[id_] = event.at
            case e.ApprovalResolved() | e.InputReceived() as answer:
                self._answered(answer, event.at)

    def _turn_over(self, turn: e.TurnCompleted) -> None:
        self._turns.labels("error" if turn.is_error else "completed").inc()
        self._cost.inc(max(turn.cost_usd, 0.0))
        for key, kind in KINDS.items():
            number = turn.usage.get(key)
            if isinstance(number, int | float) and number > 0:
                self._tokens.labels(kind).inc(number)

    def _answered(self, answer: e.ApprovalResolved | e.InputReceived, at: datetime) -> None:
        asked_at = self._asked.pop(answer.approval_id, None)
        by = _kind_of(answer, asked=asked_at is not None)
        self._decisions.labels(answer.decision, by).inc()
        if asked_at is not None and by == PERSON:
            seconds = max((at - asked_at).total_seconds(), 0.0)
            self._latency.labels(answer.decision).observe(seconds)


def _kind_of(answer: e.ApprovalResolved | e.InputReceived, *, asked: bool) -> str:
    """Nobody: it was withdrawn, or its time was over. What was not asked is settled by a rule."""
    if answer.decision == CANCELLED or answer.by in ("", TIMEOUT):
        return "nobody"
    return PERSON if asked and not answer.by.startswith("rule ") else "rule"


class Standing(Collector):
    """How things stand at this moment; only what is cheap to know, for it is asked often."""

    def __init__(
        self,
        pool: Pool,
        router: NotificationRouter,
        visits: Visits,
        asked: dict[str, datetime],
    ) -> None:
        self._pool = pool
        self._router = router
        self._visits = visits
        self._asked = asked
        self._process = psutil.Process()

    def describe(self) -> Iterable[Metric]:
        return ()  # else it is collected once at registration

    def collect(self) -> Iterable[Metric]:
        pool, log = self._pool, self._pool.log
        yield InfoMetricFamily(f"{PREFIX}_build", "The program.", {"version": __version__})
        yield _by("sessions", "Sessions, by status.", "status", self._statuses())
        live = pool.manager.live()
        yield _by("activity", "Running sessions, by activity.", "activity", _activities(live))
        queued = sum(len(state.queued) for state in live)
        yield _one("queued_messages", "Messages that wait for a running session.", queued)
        yield _one("line_length", "Sessions that wait for a process.", pool.manager.in_line())
        yield _one("open_approvals", "Questions that wait for a person.", len(self._asked))
        yield _one("log_position", "The last event.", log.head)
        yield _one("log_unwritten_events", "Events that are not on disk yet.", log.unwritten)
        lag = log.head - self._router.read
        yield _one("router_lag_events", "Events that nobody has been told of yet.", lag)
        yield _one("log_trouble", "1: nothing new can be stored.", int(log.trouble is not None))
        yield _one("open_connections", "Connections that stay, at the gateway.", len(self._visits))
        memory = self._process.memory_info().rss
        yield _one("process_memory_bytes", "Memory (RSS) of the daemon.", memory)
        yield from self._doors()

    def _statuses(self) -> dict[str, float]:
        counts = self._pool.log.store.status_counts()
        return {status.value: counts.get(status, 0) for status in Status}

    def _doors(self) -> Iterable[Metric]:
        """What each door has to deliver, and how much it may send to each chat now."""
        depths = GaugeMetricFamily(
            f"{PREFIX}_outbox_depth", "Messages a door has to deliver.", labels=["door"]
        )
        room = GaugeMetricFamily(
            f"{PREFIX}_send_budget", "Messages that may be sent now.", labels=["door", "chat"]
        )
        for report in self._pool.health.reports():
            depths.add_metric([report.name], float(report.data.get("queueDepth") or 0))
            for chat in report.data.get("chats") or ():
                room.add_metric([report.name, str(chat["chat"])], float(chat["room"]))
        yield depths
        yield room


def _activities(live: Iterable[Any]) -> dict[str, float]:
    counts = {"idle": 0.0, "working": 0.0, "waiting": 0.0}
    for state in live:
        counts[state.activity.value] += 1
    return counts


def _one(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"{PREFIX}_{name}", words, value=value)


def _by(name: str, words: str, label: str, values: dict[str, float]) -> Metric:
    metric = GaugeMetricFamily(f"{PREFIX}_{name}", words, labels=[label])
    for key, value in values.items():
        metric.add_metric([key], value)
    return metric
