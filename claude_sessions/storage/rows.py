"""Events as rows and back."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from itertools import count
from secrets import token_hex
from typing import Any, cast

import orjson

from claude_sessions.cause import CAUSE
from claude_sessions.codec import decode, encode
from claude_sessions.events import Draft, Event, Payload, Unknown

INLINE = 64 * 1024  # a payload with more bytes than this lies in blobs

COLUMNS = (
    "seq, session_seq, id, at, project, session, run, turn, type, payload, caller, caused_by, blob"
)
INSERT = (
    "INSERT INTO events (seq, session_seq, id, at, project, session, run, turn, type, version,"
    " caller, caused_by, payload, blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_BLOB = "INSERT OR IGNORE INTO blobs (hash, size, data) VALUES (?, ?, ?)"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    # Exact: a double holds microseconds of this century with room for rounding to spare.
    return datetime.fromtimestamp(micros / 1_000_000, UTC)


class _Blank:
    """An event being filled in. It has the layout of `Event` and becomes one.

    A frozen dataclass pays for every field when it is made; this way a replay is a quarter faster.
    """

    __slots__ = tuple(each.name for each in fields(Event))


@dataclass(slots=True)
class Fact:
    """A draft ready to be written; the writer gives it its place."""

    event: Event
    row: tuple[Any, ...]  # the columns after the place
    data: bytes

    def put_at(self, seq: int, session_seq: int) -> tuple[Any, ...]:
        """Also again, when it could not be written the first time. Nobody else has it yet."""
        object.__setattr__(self.event, "seq", seq)
        object.__setattr__(self.event, "session_seq", session_seq)
        return (seq, session_seq, *self.row)


def to_facts(drafts: Iterable[Draft], at: datetime, *, epoch: str, runner: str) -> list[Fact]:
    micros = to_micros(at)
    because = CAUSE.get()
    facts = []
    for draft in drafts:
        payload = draft.payload
        try:
            data = orjson.dumps(encode(payload))
        except TypeError:
            payload, data = mended(payload)
        made: Any = _Blank()
        made.seq = made.session_seq = 0
        made.epoch = epoch
        made.id = id_ = new_uuid()
        made.at = at
        made.runner = runner
        made.project = project = draft.project
        made.session = session = draft.session
        made.run = run = draft.run
        made.turn = turn = draft.turn
        made.payload = payload
        made.caller = caller = draft.caller
        made.caused_by = cause = draft.caused_by or because
        made.__class__ = Event
        event: Event = made
        text = data.decode() if len(data) <= INLINE else None
        row = (
            id_,
            micros,
            project,
            session,
            run,
            turn,
            event.type,
            event.version,
            caller,
            cause,
            text,
            None,
        )
        facts.append(Fact(event, row, data))
    return facts


def new_uuid() -> str:
    """One random beginning for the process, then a count: version 8, unique, and cheap."""
    return f"{_PROCESS}{next(_count):012x}"


_PROCESS = "{}-{}-8{}-a{}-".format(*(token_hex(8)[:n] for n in (8, 4, 3, 3)))
_count = count()


def mended(payload: Payload) -> tuple[Payload, bytes]:
    """What JSON cannot hold: lone surrogates (binary junk in a prompt), integers beyond 64 bits.

    Rare, and no reason to lose an event. Live readers get what later readers will get.
    """
    text = json.dumps(encode(payload), ensure_ascii=False)
    data = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    type_ = payload.type if isinstance(payload, Unknown) else payload.TYPE
    return decode(type_, orjson.loads(data)), data


def to_blob(data: bytes) -> tuple[str, int, bytes]:
    return hashlib.sha256(data).hexdigest(), len(data), zlib.compress(data, 3)


def read_blob(db: sqlite3.Connection, hash_: str) -> bytes:
    (data,) = db.execute("SELECT data FROM blobs WHERE hash = ?", (hash_,)).fetchone()
    return zlib.decompress(data)


def read_event(db: sqlite3.Connection, row: tuple[Any, ...], *, epoch: str, runner: str) -> Event:
    event: Any = _Blank()
    (
        event.seq,
        event.session_seq,
        event.id,
        at,
        event.project,
        event.session,
        event.run,
        event.turn,
        type_,
        data,
        event.caller,
        event.caused_by,
        blob,
    ) = row
    event.epoch = epoch
    event.runner = runner
    event.at = from_micros(at)
    event.payload = decode(type_, orjson.loads(data if blob is None else read_blob(db, blob)))
    event.__class__ = Event
    return cast(Event, event)
