"""Sums that the events keep up to date in their own transaction: each run and each dollar once.

Money is kept by the quarter of an hour, so that a day can be summed in any time zone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from claude_sessions.storage.rows import from_micros, to_micros

QUARTER = 15 * 60 * 1_000_000

WRITES = ("INSERT INTO counts", "INSERT INTO spending")

SCHEMA = """
CREATE TABLE counts (what TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE spending (quarter INTEGER PRIMARY KEY, usd REAL NOT NULL);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dearest:
    id: str
    name: str
    cost_usd: float
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    counts: dict[str, int]  # launched, unknown, duration (ms), and a status each run has ended in
    spending: list[tuple[datetime, float]]  # a quarter's beginning, dollars
    dearest: Dearest | None


def count(what: str, more: int = 1) -> tuple[str, tuple[Any, ...]]:
    return (
        "INSERT INTO counts VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = value + ?2",
        (what, more),
    )


def spent(at: datetime, usd: float) -> tuple[str, tuple[Any, ...]]:
    return (
        "INSERT INTO spending VALUES (?1, ?2) ON CONFLICT DO UPDATE SET usd = usd + ?2",
        (to_micros(at) // QUARTER, usd),
    )


def read_sums(db: sqlite3.Connection) -> Sums:
    query = "SELECT id, name, cost_usd, prompt FROM sessions ORDER BY cost_usd DESC LIMIT 1"
    row = db.execute(query).fetchone()
    return Sums(
        counts=dict(db.execute("SELECT what, value FROM counts")),
        spending=list(_spending(db, 0)),
        dearest=Dearest(id=row[0], name=row[1], cost_usd=row[2], prompt=row[3])
        if row and row[2]
        else None,
    )


def spent_since(db: sqlite3.Connection, at: datetime) -> float:
    return sum((usd for _, usd in _spending(db, to_micros(at) // QUARTER)), 0.0)


def _spending(db: sqlite3.Connection, first: int) -> Iterator[tuple[datetime, float]]:
    query = "SELECT quarter, usd FROM spending WHERE quarter >= ? ORDER BY quarter"
    for quarter, usd in db.execute(query, (first,)):
        yield from_micros(quarter * QUARTER), usd
