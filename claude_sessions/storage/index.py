"""The session index: one row a session, kept by the events in their own transaction.

`CHANGES` holds, for the few types of event that touch the index, a pure function from the event to
the statements that it means.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from claude_sessions import events as e
from claude_sessions.model import Status
from claude_sessions.storage.rows import COLUMNS, from_micros, read_event, to_micros

Statement = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """What the index knows of a session, without folding its events."""

    id: str
    name: str
    status: Status
    directory: str
    project: str | None
    claude_ids: tuple[str, ...]  # oldest first
    created_at: datetime
    updated_at: datetime
    last_seq: int  # of the event that last changed this row


ROW = "id, name, status, directory, project, claude_ids, created_at, updated_at, last_seq"


def read_row(row: tuple[Any, ...]) -> SessionRow:
    id_, name, status, directory, project, claude_ids, created_at, updated_at, last_seq = row
    return SessionRow(
        id=id_,
        name=name,
        status=Status(status),
        directory=directory,
        project=project,
        claude_ids=tuple(orjson.loads(claude_ids)),
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
        last_seq=last_seq,
    )


def which(statuses: Collection[Status] | None, *, identified: bool) -> Statement:
    """The condition, and its values, for sessions that stand so and have a conversation."""
    conditions = ["claude_ids <> '[]'"] if identified else []
    if statuses is not None:
        conditions.append(f"status IN ({', '.join('?' * len(statuses))})")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return where, tuple(statuses or ())


def rebuild(db: sqlite3.Connection) -> None:
    """Fill an empty index from the events: what the migration that adds it does."""
    marks = ", ".join("?" * len(CHANGES))
    query = f"SELECT {COLUMNS} FROM events WHERE type IN ({marks}) ORDER BY seq"
    for row in db.execute(query, [cls.TYPE for cls in CHANGES]).fetchall():
        event = read_event(db, row, epoch="", runner="")
        if (change := CHANGES.get(type(event.payload))) is not None:
            for statement, values in change(event, event.payload):
                db.execute(statement, values)


def _created(event: e.Event, born: e.SessionCreated) -> Iterable[Statement]:
    at = to_micros(event.at)
    yield (
        "INSERT INTO sessions (id, name, name_key, status, directory, project, claude_ids,"
        " created_at, updated_at, last_seq) VALUES (?, ?, ?, ?, ?, ?, '[]', ?, ?, ?)",
        (
            event.session,
            born.name,
            born.name.casefold(),
            Status.STARTING.value,
            born.directory,
            event.project or born.project_id,
            at,
            at,
            event.seq,
        ),
    )


def _renamed(event: e.Event, renamed: e.SessionRenamed) -> Iterable[Statement]:
    yield _update(event, "name = ?, name_key = ?", renamed.name, renamed.name.casefold())


def _moved(event: e.Event, moved: e.DirectoryChanged) -> Iterable[Statement]:
    yield _update(event, "directory = ?", moved.directory)


def _started(event: e.Event, started: e.SessionStarted) -> Iterable[Statement]:
    yield _update(event, "status = ?", Status.RUNNING.value)
    yield from _identified(event, started)


def _identified(
    event: e.Event, payload: e.SessionStarted | e.ConversationIdentified | e.SessionForked
) -> Iterable[Statement]:
    claude_id = payload.claude_session_id
    if claude_id is None:
        return
    # The latest is last, also when an earlier conversation is taken up again.
    yield _update(
        event,
        "claude_ids = (SELECT json_insert(coalesce(json_group_array(value), '[]'), '$[#]', ?)"
        " FROM json_each(sessions.claude_ids) WHERE value <> ?)",
        claude_id,
        claude_id,
    )
    yield (
        "INSERT OR REPLACE INTO claude_ids (claude_id, session, seq) VALUES (?, ?, ?)",
        (claude_id, event.session, event.seq),
    )


def _becomes(status: Status) -> Callable[[e.Event, Any], Iterable[Statement]]:
    def change(event: e.Event, _payload: e.Payload) -> Iterable[Statement]:
        yield _update(event, "status = ?", status.value)

    return change


def _ended(event: e.Event, ended: e.SessionEnded) -> Iterable[Statement]:
    yield _update(event, "status = ?", ended.status.value)


def _update(event: e.Event, assignments: str, *values: str) -> Statement:
    return (
        f"UPDATE sessions SET {assignments}, updated_at = ?, last_seq = ? WHERE id = ?",
        (*values, to_micros(event.at), event.seq, event.session),
    )


CHANGES: dict[type[e.Payload], Callable[[e.Event, Any], Iterable[Statement]]] = {
    e.SessionCreated: _created,
    e.SessionRenamed: _renamed,
    e.DirectoryChanged: _moved,
    e.SessionStarted: _started,
    e.ConversationIdentified: _identified,
    e.SessionForked: _identified,
    e.SessionResumed: _becomes(Status.STARTING),
    e.SessionWoken: _becomes(Status.STARTING),
    e.SessionAsleep: _becomes(Status.ASLEEP),
    e.SessionParked: _becomes(Status.PARKED),
    e.SessionEnded: _ended,
}
