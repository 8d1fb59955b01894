"""The log's file. Writes come from one thread, reads from any."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from claude_sessions.errors import Conflict
from claude_sessions.events import Event
from claude_sessions.model import ENDINGS, Status, new_id
from claude_sessions.storage import rows
from claude_sessions.storage.figures import Sums, read_sums, spent_since
from claude_sessions.storage.index import CHANGES, ROW, SessionRow, read_row, restore, which
from claude_sessions.storage.mail import Mail, forget_letters
from claude_sessions.storage.presence import Presences
from claude_sessions.storage.rows import COLUMNS, INLINE, Fact
from claude_sessions.storage.schema import connect_for_reading, prepare

LAST = 2**63 - 1
IDLE_READERS = 4

Batch = Sequence[Fact]


class Store:
    """Opening reads no events: it costs the same for an empty log and for a million of them."""

    def __init__(self, path: Path, *, runner: str, max_pages: int | None = None) -> None:
        self.path = path
        self.runner = runner
        self._db = prepare(path, max_pages=max_pages)
        self._readers: list[sqlite3.Connection] = []
        self._closed = False
        self.epoch = self._remember("epoch", new_id())
        if self._remember("runner", runner) != runner:
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'runner'", (runner,))
        self.mail = Mail(self._db, self._transaction, self._reader)
        self.presences = Presences(self._db, self._transaction, self._reader)
        self._seq = self.head()
        self._session_seqs: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The last connection folds the side file into the main one: copying it is a backup."""
        self._closed = True
        while self._readers:
            self._readers.pop().close()
        self._db.close()

    def _remember(self, key: str, value: str) -> str:
        query = "SELECT value FROM meta WHERE key = ?"
        if (row := self._db.execute(query, (key,)).fetchone()) is None:
            self._db.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
            return value
        return str(row[0])

    # --- writing: from the writer's thread only

    def append(self, batches: Sequence[Batch]) -> dict[int, Conflict]:
        """All in one transaction; each fact's event then has its place.

        A batch that the index refuses is left out, alone and whole; its number and why come back.
        Raises `sqlite3.OperationalError` when there is no room: nothing has been written then.
        """
        try:
            return self._append(batches, self._insert)
        except sqlite3.IntegrityError:
            return self._append(batches, self._insert_each)

    def probe(self, size: int = INLINE) -> None:
        """Raises unless there is room for some more."""
        with self._transaction():
            self._db.execute("REPLACE INTO blobs VALUES ('probe', ?, zeroblob(?))", (size, size))
        with self._transaction():
            self._db.execute("DELETE FROM blobs WHERE hash = 'probe'")

    def allow_pages(self, count: int) -> None:
        self._db.execute(f"PRAGMA max_page_count = {count:d}")

    def forget(self, session: str) -> int:
        """All that it ever was, also what only it kept in blobs; gives how many events."""
        with self._transaction():
            forget_letters(self._db, session)
            gone = self._db.execute("DELETE FROM events WHERE session = ?", (session,)).rowcount
            self._db.execute(
                "DELETE FROM blobs WHERE hash NOT IN"
                " (SELECT blob FROM events WHERE blob IS NOT NULL)"
            )
            self._drop_row(session)
        self._session_seqs.pop(session, None)
        return gone

    def trim(self, bound: int) -> list[str]:
        """Beyond the bound the index forgets: what has ended before what sleeps, oldest first.

        The log keeps them: by their id they are still found.
        """
        over = self.session_count() - bound
        if over <= 0:
            return []
        resting = [status.value for status in (*ENDINGS, Status.ASLEEP)]
        query = (
            f"SELECT id FROM sessions WHERE status IN ({', '.join('?' * len(resting))})"
            " AND line IS NULL AND news IS NULL"
            " ORDER BY status = 'asleep', updated_at LIMIT ?"
        )
        with self._transaction():
            old = [session for (session,) in self._db.execute(query, (*resting, over))]
            for session in old:
                self._drop_row(session)
        return old

    def bring_back(self, session: str) -> bool:
        """A session that was trimmed stands in the index again; False: there is none such."""
        with self._transaction():
            return restore(self._db, session)

    def _drop_row(self, session: str) -> None:
        for table in ("claude_ids", "drafts", "fronts"):
            self._db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
        self._db.execute("DELETE FROM sessions WHERE id = ?", (session,))

    def note(self, drafts: Mapping[str, tuple[str, str]]) -> None:
        """Session → (block, text so far) of words that are not finished; others are done."""
        with self._transaction():
            self._db.execute("DELETE FROM drafts")
            self._db.executemany(
                "INSERT INTO drafts VALUES (?, ?, ?)",
                [(session, block, text) for session, (block, text) in drafts.items()],
            )

    def _append(
        self,
        batches: Sequence[Batch],
        insert: Callable[[Sequence[Batch], dict[str, int]], dict[int, Conflict]],
    ) -> dict[int, Conflict]:
        seq, places = self._seq, dict[str, int]()
        try:
            with self._transaction():
                refused = insert(batches, places)
        except BaseException:
            self._seq = seq
            raise
        self._session_seqs |= places
        return refused

    def _insert(self, batches: Sequence[Batch], places: dict[str, int]) -> dict[int, Conflict]:
        table = []
        for batch in batches:
            for fact in batch:
                event = fact.event
                session_seq = 0
                if (session := event.session) is not None:
                    if (last := places.get(session)) is None:
                        last = self._last_place(session)
                    session_seq = places[session] = last + 1
                self._seq += 1
                row = fact.put_at(self._seq, session_seq)
                if len(fact.data) > INLINE:
                    row = (*row[:-1], self._put_blob(fact.data))
                table.append(row)
                if (change := CHANGES.get(type(event.payload))) is not None:
                    for statement, values in change(event, event.payload):
                        self._db.execute(statement, values)
        self._db.executemany(rows.INSERT, table)
        return {}

    def _put_blob(self, data: bytes) -> str:
        hash_, size, packed = rows.to_blob(data)
        self._db.execute(rows.INSERT_BLOB, (hash_, size, packed))
        return hash_

    def _insert_each(self, batches: Sequence[Batch], places: dict[str, int]) -> dict[int, Conflict]:
        refused = {}
        for number, batch in enumerate(batches):
            seq, known = self._seq, places.copy()
            self._db.execute("SAVEPOINT batch")
            try:
                self._insert([batch], places)
            except sqlite3.IntegrityError as error:
                if "sessions." not in str(error):
                    raise
                self._db.execute("ROLLBACK TO batch")
                self._seq = seq
                places.clear()
                places |= known
                refused[number] = Conflict("That name is taken. Choose another one.")
            self._db.execute("RELEASE batch")
        return refused

    def _last_place(self, session: str) -> int:
        if (known := self._session_seqs.get(session)) is not None:
            return known
        return _last_place(self._db, session)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # a full disk may have rolled it back already
                self._db.execute("ROLLBACK")
            raise

    # --- reading: from any thread

    def head(self) -> int:
        with self._reader() as db:
            return int(db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])

    def events(
        self,
        *,
        after: int = 0,
        limit: int,
        session: str | None = None,
        upto: int | None = None,
        types: Collection[str] | None = None,
    ) -> list[Event]:
        """The next `limit` events with `after` < seq ≤ `upto`."""
        upto = LAST if upto is None else upto
        fits = "" if types is None else f" AND type IN ({', '.join('?' * len(types))})"
        kinds = types or ()
        with self._reader() as db:
            if session is None:
                query = f"SELECT {COLUMNS} FROM events WHERE seq > ? AND seq <= ?{fits}"
                found = db.execute(f"{query} ORDER BY seq LIMIT ?", (after, upto, *kinds, limit))
            else:
                query = f"SELECT {COLUMNS} FROM events WHERE session = ? AND session_seq > ?"
                place = _place_after(db, session, after) if after else 0
                found = db.execute(
                    f"{query} AND seq <= ?{fits} ORDER BY session_seq LIMIT ?",
                    (session, place, upto, *kinds, limit),
                )
            return self._typed(db, found)

    def tail_of(self, session: str, types: list[str] | tuple[str, ...], n: int) -> list[Event]:
        """The last `n` events of these types, oldest first."""
        marks = ", ".join("?" * len(types))
        query = f"SELECT {COLUMNS} FROM events WHERE session = ? AND type IN ({marks})"
        with self._reader() as db:
            found = db.execute(f"{query} ORDER BY session_seq DESC LIMIT ?", (session, *types, n))
            return self._typed(db, found)[::-1]

    def seq_of(self, session: str, nth: int | None, event: str | None) -> int | None:
        """Of the session's nth event, from 1, or of the one with this id."""
        condition, value = ("session_seq", nth) if event is None else ("id", event)
        query = f"SELECT seq FROM events WHERE session = ? AND {condition} = ?"
        with self._reader() as db:
            found = db.execute(query, (session, value)).fetchone()
        return None if found is None else int(found[0])

    def turns_since(self, seq: int, limit: int) -> list[Event]:
        """The newest `limit` turns that ended after that event, oldest first."""
        query = (
            f"SELECT {COLUMNS} FROM events WHERE type IN ('turn.completed', 'turn.interrupted')"
            " AND seq > ? ORDER BY seq DESC LIMIT ?"
        )
        with self._reader() as db:
            return self._typed(db, db.execute(query, (seq, limit)))[::-1]

    def last_event(self) -> Event | None:
        query = f"SELECT {COLUMNS} FROM events ORDER BY seq DESC LIMIT 1"
        with self._reader() as db:
            return next(iter(self._typed(db, db.execute(query))), None)

    def draft(self, session: str) -> tuple[str, str] | None:
        """The block that was open when its words were last noted, and the words."""
        query = "SELECT block, text FROM drafts WHERE session = ?"
        with self._reader() as db:
            found: tuple[str, str] | None = db.execute(query, (session,)).fetchone()
            return found

    def sums(self) -> Sums:
        with self._reader() as db:
            return read_sums(db)

    def spent_since(self, at: datetime) -> float:
        with self._reader() as db:
            return spent_since(db, at)

    def session_row(self, ref: str) -> SessionRow | None:
        """By id, else by name in any case, else by the Claude id it had last."""
        with self._reader() as db:
            for condition in (
                "id = ?",
                "name_key = ?",
                "id = (SELECT session FROM claude_ids WHERE claude_id = ? ORDER BY seq DESC)",
            ):
                value = ref.casefold() if condition.startswith("name") else ref
                query = f"SELECT {ROW} FROM sessions WHERE {condition}"
                if (row := db.execute(query, (value,)).fetchone()) is not None:
                    return read_row(row)
        return None

    def session_rows(
        self,
        *,
        statuses: Collection[Status] | None = None,
        identified: bool = False,
        origin: str | None = None,
        limit: int = -1,
    ) -> list[SessionRow]:
        """The one touched last comes first. `identified`: only those with a conversation."""
        where, values = which(statuses, identified=identified, origin=origin)
        query = f"SELECT {ROW} FROM sessions {where} ORDER BY updated_at DESC, id LIMIT ?"
        with self._reader() as db:
            return [read_row(row) for row in db.execute(query, (*values, limit))]

    def stirred(self, seq: int, ids: Collection[str], limit: int) -> list[SessionRow]:
        """These, and those that ended or were parked after that event; the newest first."""
        still = [status.value for status in (*ENDINGS, Status.PARKED)]
        query = (
            f"SELECT {ROW} FROM sessions WHERE id IN ({', '.join('?' * len(ids))})"
            f" OR (last_seq > ? AND status IN ({', '.join('?' * len(still))}))"
            " ORDER BY updated_at DESC, id LIMIT ?"
        )
        with self._reader() as db:
            found = db.execute(query, (*ids, seq, *still, limit))
            return [read_row(row) for row in found]

    def like(self, part: str, limit: int) -> list[SessionRow]:
        """Those with this in their name; the one touched last comes first."""
        query = f"SELECT {ROW} FROM sessions WHERE instr(name_key, ?) ORDER BY updated_at DESC"
        with self._reader() as db:
            found = db.execute(f"{query} LIMIT ?", (part.casefold(), limit))
            return [read_row(row) for row in found]

    def fronts(self, channel: str) -> list[str]:
        """Sessions in the foreground there; the one that came forward last comes first."""
        query = "SELECT session FROM fronts WHERE channel = ? ORDER BY seq DESC"
        with self._reader() as db:
            return [session for (session,) in db.execute(query, (channel,))]

    def fronts_of(self, kind: str) -> dict[str, list[str]]:
        """The same for all channels of a kind, like `console`."""
        found: dict[str, list[str]] = {}
        with self._reader() as db:
            for channel, session in db.execute(
                "SELECT channel, session FROM fronts WHERE channel >= ? AND channel < ?",
                (f"{kind}|", f"{kind}}}"),  # "}" follows "|"
            ):
                found.setdefault(channel, []).append(session)
        return found

    def line(self) -> list[SessionRow]:
        """Those that wait for a process, in their order."""
        return self._rows("line IS NOT NULL ORDER BY line")

    def news(self) -> list[SessionRow]:
        """Those that the daemon's end has cut off, and nobody has been told."""
        return self._rows("news IS NOT NULL ORDER BY news")

    def _rows(self, condition: str) -> list[SessionRow]:
        with self._reader() as db:
            found = db.execute(f"SELECT {ROW} FROM sessions WHERE {condition}")
            return [read_row(row) for row in found]

    def session_count(
        self,
        *,
        statuses: Collection[Status] | None = None,
        identified: bool = False,
        origin: str | None = None,
    ) -> int:
        where, values = which(statuses, identified=identified, origin=origin)
        with self._reader() as db:
            return int(db.execute(f"SELECT count(*) FROM sessions {where}", values).fetchone()[0])

    def status_counts(self) -> dict[Status, int]:
        with self._reader() as db:
            found = db.execute("SELECT status, count(*) FROM sessions GROUP BY status")
            return {Status(status): number for status, number in found}

    def names(self, prefix: str) -> list[str]:
        """Case-folded names in use that begin like this: to find a free one."""
        query = "SELECT name_key FROM sessions WHERE name_key >= ? AND name_key < ?"
        start = prefix.casefold()
        with self._reader() as db:
            return [name for (name,) in db.execute(query, (start, start + "\U0010ffff"))]

    def _typed(self, db: sqlite3.Connection, found: sqlite3.Cursor) -> list[Event]:
        epoch, runner, read = self.epoch, self.runner, rows.read_event
        return [read(db, row, epoch=epoch, runner=runner) for row in found]

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        try:
            db = self._readers.pop()
        except IndexError:
            db = connect_for_reading(self.path)
        try:
            yield db
        finally:
            if self._closed or len(self._readers) >= IDLE_READERS:
                db.close()
            else:
                self._readers.append(db)


def _last_place(db: sqlite3.Connection, session: str) -> int:
    query = "SELECT coalesce(max(session_seq), 0) FROM events WHERE session = ?"
    return int(db.execute(query, (session,)).fetchone()[0])


def _place_after(db: sqlite3.Connection, session: str, seq: int) -> int:
    """How many of the session's events lie at or before `seq`.

    Both numbers rise together and the inner one has no holes, so we can halve: twenty lookups for
    a million events, where a condition on `seq` would walk the session from its beginning.
    """
    low, high = 0, _last_place(db, session)
    query = "SELECT seq FROM events WHERE session = ? AND session_seq = ?"
    while low < high:
        middle = (low + high + 1) // 2
        found: tuple[Any, ...] = db.execute(query, (session, middle)).fetchone()
        low, high = (middle, high) if found[0] <= seq else (low, middle - 1)
    return low
