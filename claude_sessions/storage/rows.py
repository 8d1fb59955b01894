"""Events as rows and back."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, cast

import orjson

from claude_sessions.events import Draft, Event, Payload, Unknown, decode, encode

INLINE = 64 * 1024  # a payload with more bytes than this lies in blobs

COLUMNS = (
    "seq, session_seq, id, at, project, session, run, turn, type, payload, caller, caused_by, blob"
)
INSERT = (
    "INSERT INTO events (seq, session_seq, id, at, project, session, run, turn, type, version,"
    " payload, caller, caused_by, blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_BLOB = "INSERT OR IGNORE INTO blobs (hash, size, data) VALUES (?, ?, ?)"

_random = Random()  # seeded by the system; these ids are no secrets

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    # Exact: a double holds microseconds of this century with room for rounding to spare.
    return datetime.fromtimestamp(micros / 1_000_000, UTC)


@dataclass(slots=True)
class Fact:
    """A draft ready to be written: everything but its place in the log."""

    draft: Draft
    payload: Payload
    data: bytes
    id: str
    at: datetime
    micros: int


def to_facts(drafts: Iterable[Draft], at: datetime) -> list[Fact]:
    micros = to_micros(at)
    return [Fact(draft, *to_json(draft.payload), new_uuid(), at, micros) for draft in drafts]


def new_uuid() -> str:
    """A random UUID, for a fraction of what the standard library's costs."""
    digits = f"{_random.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def to_json(payload: Payload) -> tuple[Payload, bytes]:
    """The bytes to store, and the payload as it will be read back from them."""
    fields = encode(payload)
    try:
        return payload, orjson.dumps(fields)
    except TypeError:
        # Lone surrogates (binary junk in a prompt) and integers beyond 64 bits: rare, and no
        # reason to lose an event. Live readers get what later readers will get.
        text = json.dumps(fields, ensure_ascii=False)
        data = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
        type_ = payload.type if isinstance(payload, Unknown) else payload.TYPE
        return decode(type_, orjson.loads(data)), data


class _Blank:
    """An event being filled in. It has the layout of `Event` and becomes one.

    A frozen dataclass pays for every field when it is made; this way a replay is a quarter faster.
    """

    __slots__ = tuple(each.name for each in fields(Event))


def to_event(fact: Fact, seq: int, session_seq: int, *, epoch: str, runner: str) -> Event:
    draft = fact.draft
    event: Any = _Blank()
    event.seq = seq
    event.epoch = epoch
    event.session_seq = session_seq
    event.id = fact.id
    event.at = fact.at
    event.runner = runner
    event.project = draft.project
    event.session = draft.session
    event.run = draft.run
    event.turn = draft.turn
    event.payload = fact.payload
    event.caller = draft.caller
    event.caused_by = draft.caused_by
    event.__class__ = Event
    return cast(Event, event)


def to_row(event: Event, fact: Fact, blob: str | None) -> tuple[Any, ...]:
    return (
        event.seq,
        event.session_seq,
        event.id,
        fact.micros,
        event.project,
        event.session,
        event.run,
        event.turn,
        event.type,
        event.version,
        fact.data.decode() if blob is None else None,
        event.caller,
        event.caused_by,
        blob,
    )


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
