"""Where each person is in the log: one row a person, over all doors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass

# The turns that ended are what a digest counts: found without reading what lies between them.
SCHEMA = """
CREATE TABLE presence (
    person TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,           -- up to there they have seen it, or been told
    at REAL NOT NULL,               -- when that was
    since_seq INTEGER NOT NULL,     -- where they were when they were last away
    since_at REAL NOT NULL,
    channel TEXT                    -- where they alone read
) WITHOUT ROWID;
CREATE INDEX events_turns ON events (seq) WHERE type IN ('turn.completed', 'turn.interrupted');
"""

Transaction = Callable[[], AbstractContextManager[None]]
Reader = Callable[[], AbstractContextManager[sqlite3.Connection]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    person: str
    seq: int
    at: float  # seconds since 1970
    since_seq: int
    since_at: float
    channel: str | None = None


class Presences:
    """Writing is for the log's writer (`EventLog.change`); reading may be done from anywhere."""

    def __init__(self, db: sqlite3.Connection, transaction: Transaction, reader: Reader) -> None:
        self._db = db
        self._transaction = transaction
        self._reader = reader

    def all(self) -> list[Position]:
        query = "SELECT person, seq, at, since_seq, since_at, channel FROM presence"
        with self._reader() as db:
            return [
                Position(
                    person=person, seq=seq, at=at, since_seq=begun, since_at=left, channel=channel
                )
                for person, seq, at, begun, left, channel in db.execute(query)
            ]

    def keep(self, positions: Iterable[Position]) -> None:
        with self._transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO presence VALUES (?, ?, ?, ?, ?, ?)",
                [astuple(position) for position in positions],
            )
