"""The session index: one row a session, kept by the events in their own transaction.

`CHANGES` holds, for the few types of event that touch the index, a pure function from the event to
the statements that it means. A row says enough for a list; whoever needs more folds the events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from claude_sessions import events as e
from claude_sessions.model import Reason, Status
from claude_sessions.state import Pending
from claude_sessions.storage import figures
from claude_sessions.storage.rows import COLUMNS, from_micros, read_event, to_micros

Statement = tuple[str, tuple[Any, ...]]
Change = Callable[[e.Event, Any], Iterable[Statement]]

PROMPT = 200  # characters kept of it
CUT_OFF = (Reason.ABANDONED, Reason.SHUTDOWN)  # why a session sleeps that nobody sent to sleep


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
    updated_at: datetime  # when this row last changed
    last_seq: int  # of the event that last changed this row
    reason: Reason | None = None
    origin: str | None = None
    prompt: str = ""  # the beginning of it
    cost_usd: float = 0.0
    cost_unknown: bool = False
    run_ended_at: datetime | None = None
    resets_at: float | None = None
    line: int | None = None  # its place in the line for a process: the lower, the sooner

    # What a list shows of a session at work, the live state says; a row is of one that rests.
    pending: tuple[Pending, ...] = ()
    turn: str | None = None
    turn_started_at: datetime | None = None

    @property
    def run_started_at(self) -> datetime:
        return self.updated_at

    @property
    def in_line(self) -> bool:
        return self.line is not None


ROW = (
    "id, name, status, directory, project, claude_ids, created_at, updated_at, last_seq, reason,"
    " origin, prompt, cost_usd, cost_unknown, ended_at, resets_at, line"
)


def read_row(row: tuple[Any, ...]) -> SessionRow:
    reason, origin, prompt, cost_usd, cost_unknown, ended_at, resets_at, line = row[9:]
    id_, name, status, directory, project, claude_ids, created_at, updated_at, last_seq = row[:9]
    return SessionRow(
        id=id_,
        name=name,
        status=Status(status),
        directory=directory,
        project=project,
        claude_ids=() if claude_ids == "[]" else tuple(orjson.loads(claude_ids)),
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
        last_seq=last_seq,
        reason=Reason(reason) if reason else None,
        origin=origin,
        prompt=prompt,
        cost_usd=cost_usd,
        cost_unknown=bool(cost_unknown),
        run_ended_at=from_micros(ended_at) if ended_at is not None else None,
        resets_at=resets_at,
        line=line,
    )


def which(
    statuses: Collection[Status] | None, *, identified: bool = False, origin: str | None = None
) -> Statement:
    """The condition, and its values, for sessions that stand so and have a conversation."""
    conditions = ["claude_ids <> '[]'"] if identified else []
    if origin is not None:
        conditions.append("origin = ?")
    if statuses is not None:
        conditions.append(f"status IN ({', '.join('?' * len(statuses))})")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return where, (*([] if origin is None else [origin]), *(statuses or ()))


def rebuild(db: sqlite3.Connection) -> None:
    """Fill an empty index from the events: what a migration that changes it does."""
    marks = ", ".join("?" * len(CHANGES))
    query = f"SELECT {COLUMNS} FROM events WHERE type IN ({marks}) ORDER BY seq"
    for row in db.execute(query, [cls.TYPE for cls in CHANGES]):
        event = read_event(db, row, epoch="", runner="")
        if (change := CHANGES.get(type(event.payload))) is not None:
            for statement, values in change(event, event.payload):
                db.execute(statement, values)


def restore(db: sqlite3.Connection, session: str) -> bool:
    """Fill in one session that is missing; the sums have counted it already."""
    if db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone():
        return True
    marks = ", ".join("?" * len(CHANGES))
    query = f"SELECT {COLUMNS} FROM events WHERE session = ? AND type IN ({marks}) ORDER BY seq"
    found = db.execute(query, [session, *(cls.TYPE for cls in CHANGES)]).fetchall()
    for row in found:
        event = read_event(db, row, epoch="", runner="")
        for statement, values in CHANGES[type(event.payload)](event, event.payload):
            if not statement.startswith(figures.WRITES):
                _execute_freely(db, statement, values)
    return bool(found)


def _execute_freely(db: sqlite3.Connection, statement: str, values: tuple[Any, ...]) -> None:
    """Its name may have gone to another meanwhile: then it is called by its id."""
    try:
        db.execute(statement, values)
    except sqlite3.IntegrityError:
        if statement.startswith("INSERT INTO sessions"):
            session = values[0]
            db.execute(statement, (session, session, session, *values[3:]))


def _created(event: e.Event, born: e.SessionCreated) -> Iterable[Statement]:
    at = to_micros(event.at)
    yield (
        "INSERT INTO sessions (id, name, name_key, status, directory, project, claude_ids,"
        " created_at, updated_at, last_seq, origin, prompt)"
        " VALUES (?, ?, ?, ?, ?, ?, '[]', ?, ?, ?, ?, ?)",
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
            born.origin,
            born.prompt[:PROMPT],
        ),
    )
    yield figures.count("launched")


def _renamed(event: e.Event, renamed: e.SessionRenamed) -> Iterable[Statement]:
    yield _update(event, "name = ?, name_key = ?", renamed.name, renamed.name.casefold())


def _moved(event: e.Event, moved: e.DirectoryChanged) -> Iterable[Statement]:
    yield _update(event, "directory = ?", moved.directory)


def _started(event: e.Event, started: e.SessionStarted) -> Iterable[Statement]:
    yield _stands(event, Status.RUNNING)
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


def _begins(event: e.Event, _payload: e.Payload) -> Iterable[Statement]:
    yield _stands(event, Status.STARTING)


def _asleep(event: e.Event, asleep: e.SessionAsleep) -> Iterable[Statement]:
    news = event.seq if asleep.reason in CUT_OFF else None
    yield _stands(event, Status.ASLEEP, asleep.reason, news=news)


def _queued(event: e.Event, _payload: e.SessionQueued) -> Iterable[Statement]:
    yield _stands(event, Status.ASLEEP, Reason.QUEUED, line=event.seq)


def _parked(event: e.Event, parked: e.SessionParked) -> Iterable[Statement]:
    yield _stands(event, Status.PARKED, Reason.LIMIT, resets_at=parked.resets_at)


def _ended(event: e.Event, ended: e.SessionEnded) -> Iterable[Statement]:
    news = event.seq if ended.reason in CUT_OFF else None
    yield _stands(event, ended.status, ended.reason, ended_at=to_micros(event.at), news=news)
    if ended.cost_unknown:
        yield _update(event, "cost_unknown = 1")
        yield figures.count("unknown")
    yield figures.count(ended.status.value)
    yield figures.count("duration", ended.duration_ms)


def _spent(event: e.Event, turn: e.TurnCompleted | e.TurnInterrupted) -> Iterable[Statement]:
    if turn.cost_usd is None:
        yield _update(event, "cost_unknown = 1")
    elif turn.cost_usd:
        yield _update(event, "cost_usd = cost_usd + ?", turn.cost_usd)
        yield figures.spent(event.at, turn.cost_usd)


def _forward(event: e.Event, front: e.Foregrounded) -> Iterable[Statement]:
    yield (
        "INSERT OR REPLACE INTO fronts (channel, session, seq) VALUES (?, ?, ?)",
        (front.channel, event.session, event.seq),
    )


def _back(event: e.Event, back: e.Backgrounded) -> Iterable[Statement]:
    yield (
        "DELETE FROM fronts WHERE channel = ? AND session = ?",
        (back.channel, event.session),
    )


def _reported(event: e.Event, _payload: e.SessionReported) -> Iterable[Statement]:
    yield "UPDATE sessions SET news = NULL WHERE id = ?", (event.session,)


def _stands(
    event: e.Event,
    status: Status,
    reason: Reason | None = None,
    *,
    ended_at: int | None = None,
    resets_at: float | None = None,
    line: int | None = None,
    news: int | None = None,
) -> Statement:
    return _update(
        event,
        "status = ?, reason = ?, ended_at = ?, resets_at = ?, line = ?, news = ?",
        status.value,
        reason.value if reason else None,
        ended_at,
        resets_at,
        line,
        news,
    )


def _update(event: e.Event, assignments: str, *values: Any) -> Statement:
    return (
        f"UPDATE sessions SET {assignments}, updated_at = ?, last_seq = ? WHERE id = ?",
        (*values, to_micros(event.at), event.seq, event.session),
    )


CHANGES: dict[type[e.Payload], Change] = {
    e.SessionCreated: _created,
    e.SessionRenamed: _renamed,
    e.DirectoryChanged: _moved,
    e.SessionStarted: _started,
    e.ConversationIdentified: _identified,
    e.SessionForked: _identified,
    e.SessionResumed: _begins,
    e.SessionWoken: _begins,
    e.SessionAsleep: _asleep,
    e.SessionQueued: _queued,
    e.SessionParked: _parked,
    e.SessionEnded: _ended,
    e.SessionReported: _reported,
    e.TurnCompleted: _spent,
    e.TurnInterrupted: _spent,
    e.Foregrounded: _forward,
    e.Backgrounded: _back,
}
