"""Mail: what came in from a chat service, and what has to go out to it, until both are done.

An update is *new* until it has been handled, *held* while a person is asked about it, and kept for
a while once *done*, so that one delivered twice is handled once. A letter is something that a chat
has to show; its content may change, and `shown` says which version of it the chat has.
"""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

SCHEMA = """
CREATE TABLE inbox (
    bot INTEGER NOT NULL,
    update_id INTEGER NOT NULL,
    at REAL NOT NULL,               -- when it was written down
    raw TEXT NOT NULL,
    state TEXT NOT NULL,            -- new, held or done
    head INTEGER NOT NULL,          -- the last event before it
    PRIMARY KEY (bot, update_id)
) WITHOUT ROWID;
CREATE INDEX inbox_open ON inbox (bot, update_id) WHERE state != 'done';
CREATE INDEX inbox_age ON inbox (at);
CREATE TABLE letters (
    id INTEGER PRIMARY KEY,
    bot INTEGER NOT NULL,
    chat TEXT NOT NULL,             -- chat, or chat/thread
    key TEXT NOT NULL,              -- one letter for each thing that is told
    seq INTEGER NOT NULL,           -- the event it comes from
    session TEXT,
    content TEXT NOT NULL,          -- JSON
    version INTEGER NOT NULL,
    shown INTEGER NOT NULL,         -- the version that the chat has
    tried INTEGER NOT NULL,         -- how many of its messages were begun to be sent
    open INTEGER NOT NULL,          -- its content will change once more
    at REAL NOT NULL,               -- since when the chat shows, or lacks, what it says
    UNIQUE (bot, chat, key)
);
CREATE INDEX letters_waiting ON letters (bot) WHERE shown < version OR open;
CREATE INDEX letters_age ON letters (at);
CREATE TABLE sent (
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    message INTEGER NOT NULL,
    letter INTEGER NOT NULL,
    part INTEGER NOT NULL,          -- which of its texts; below 0: see COPY and DOCUMENT
    PRIMARY KEY (bot, chat, message)
) WITHOUT ROWID;
CREATE INDEX sent_letter ON sent (letter);
CREATE TABLE buttons (
    token TEXT PRIMARY KEY,
    letter INTEGER NOT NULL,
    version INTEGER NOT NULL,       -- the last version of the letter that shows it
    label TEXT NOT NULL,
    line TEXT NOT NULL,
    needs_text INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX buttons_letter ON buttons (letter);
CREATE TABLE places (reader TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
"""

NEWLY_WAITING = "CASE WHEN shown < version THEN at ELSE ? END"
Transaction = Callable[[], AbstractContextManager[None]]
Reader = Callable[[], AbstractContextManager[sqlite3.Connection]]
COPY = -1  # the part of a copy that nobody knew of
DOCUMENT = -2  # its file: nothing can be written onto that
LETTER = "id, chat, key, seq, session, content, version, shown, tried, open, at"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUpdate:
    update_id: int
    at: float
    raw: str
    state: str
    head: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredButton:
    """What a press means; `current`: its letter still shows it."""

    token: str
    label: str
    line: str
    needs_text: bool
    letter: int
    chat: str
    key: str
    session: str | None
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLetter:
    id: int
    chat: str
    key: str
    seq: int
    session: str | None
    content: str
    version: int
    shown: int
    tried: int
    open: bool
    at: float
    messages: tuple[int, ...] = ()  # ids, part by part
    copies: tuple[int, ...] = ()
    document: int | None = None
    tokens: dict[tuple[str, str], str] = field(default_factory=dict)  # label, line → token


@dataclass(frozen=True, slots=True, kw_only=True)
class NewButton:
    token: str  # taken unless the letter has one for it already
    label: str
    line: str
    needs_text: bool


class Mail:
    """Writing is for the log's writer (`EventLog.change`); reading may be done from anywhere."""

    def __init__(self, db: sqlite3.Connection, transaction: Transaction, reader: Reader) -> None:
        self._db = db
        self._transaction = transaction
        self._reader = reader

    # --- in

    def take_in(
        self,
        bot: int,
        updates: Iterable[tuple[int, str]],
        *,
        at: float,
        head: int,
        same: Callable[[str, str], bool] = operator.eq,
    ) -> set[int]:
        """Those that are new here; the others have been written down before.

        Numbers may begin anew: one that is done and was not the `same` makes room.
        """
        fresh = set()
        with self._transaction():
            for update_id, raw in updates:
                self._make_room(bot, update_id, raw, same)
                values = (bot, update_id, at, raw, "new", head)
                done = self._db.execute("INSERT OR IGNORE INTO inbox VALUES (?,?,?,?,?,?)", values)
                if done.rowcount:
                    fresh.add(update_id)
        return fresh

    def _make_room(
        self, bot: int, update_id: int, raw: str, same: Callable[[str, str], bool]
    ) -> None:
        where = " FROM inbox WHERE bot = ? AND update_id = ? AND state = 'done'"
        known = self._db.execute("SELECT raw" + where, (bot, update_id)).fetchone()
        if known is not None and not same(known[0], raw):
            self._db.execute("DELETE" + where, (bot, update_id))

    def mark(self, bot: int, update_ids: Iterable[int], state: str) -> None:
        with self._transaction():
            self._mark(bot, update_ids, state)

    def _mark(self, bot: int, update_ids: Iterable[int], state: str) -> None:
        self._db.executemany(
            "UPDATE inbox SET state = ? WHERE bot = ? AND update_id = ?",
            [(state, bot, update_id) for update_id in update_ids],
        )

    def unfinished(self, bot: int) -> list[StoredUpdate]:
        """In the order in which they were written down."""
        query = (
            "SELECT update_id, at, raw, state, head FROM inbox"
            " WHERE bot = ? AND state != 'done' ORDER BY at, update_id"
        )
        with self._reader() as db:
            return [
                StoredUpdate(update_id=i, at=at, raw=raw, state=state, head=head)
                for i, at, raw, state, head in db.execute(query, (bot,))
            ]

    def causes(self, after: int) -> dict[str, int]:
        """What the events after that one say they were caused by, and the last that says so."""
        query = (
            "SELECT caused_by, max(seq) FROM events"
            " WHERE seq > ? AND caused_by IS NOT NULL GROUP BY caused_by"
        )
        with self._reader() as db:
            return dict(db.execute(query, (after,)).fetchall())

    # --- out

    def put(
        self,
        bot: int,
        chat: str,
        key: str,
        content: str,
        buttons: Sequence[NewButton],
        *,
        seq: int,
        session: str | None,
        open: bool,
        at: float,
        done: Iterable[int] = (),
    ) -> StoredLetter:
        """A letter, or another content of one that is there; one that says the same stays.

        What is finished is not begun again: it is only being told a second time.

        `done`: the updates that it answers are done with, in the same breath.
        """
        with self._transaction():
            known = self._db.execute(
                "SELECT id, content, version, open FROM letters"
                " WHERE bot = ? AND chat = ? AND key = ?",
                (bot, chat, key),
            ).fetchone()
            if known is None:
                values = (bot, chat, key, seq, session, content, int(open), at)
                letter, version = self._insert(values), 1
            else:
                letter, before, version, was_open = known
                if open and not was_open:
                    return self._letter(self._db, letter)
                if (before, bool(was_open)) != (content, open):
                    version += before != content
                    self._db.execute(
                        f"UPDATE letters SET content = ?, at = {NEWLY_WAITING}, version = ?,"
                        " open = ? WHERE id = ?",
                        (content, at, version, int(open), letter),
                    )
            self._keep_buttons(letter, version, buttons)
            self._mark(bot, done, "done")
            return self._letter(self._db, letter)

    def _insert(self, values: tuple[object, ...]) -> int:
        made = self._db.execute(
            "INSERT INTO letters (bot, chat, key, seq, session, content, version, shown, tried,"
            " open, at) VALUES (?, ?, ?, ?, ?, ?, 1, 0, 0, ?, ?)",
            values,
        )
        assert made.lastrowid is not None
        return made.lastrowid

    def _keep_buttons(self, letter: int, version: int, buttons: Sequence[NewButton]) -> None:
        known = self._tokens(self._db, letter)
        for button in buttons:
            token = known.get((button.label, button.line), button.token)
            self._db.execute(
                "INSERT INTO buttons VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (token) DO UPDATE SET version = excluded.version",
                (token, letter, version, button.label, button.line, int(button.needs_text)),
            )

    def try_(self, letter: int, part: int) -> None:
        """It is about to be sent: should nothing be heard of it, it may be there all the same."""
        with self._transaction():
            self._db.execute("UPDATE letters SET tried = ? WHERE id = ?", (part + 1, letter))

    def untry(self, letter: int, part: int) -> None:
        """It surely has not reached anybody."""
        with self._transaction():
            self._db.execute("UPDATE letters SET tried = ? WHERE id = ?", (part, letter))

    def out(self, bot: int, chat: int, message: int, letter: int, part: int) -> None:
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO sent VALUES (?, ?, ?, ?, ?)",
                (bot, chat, message, letter, part),
            )

    def adopt(self, bot: int, chat: int, message: int, letter: int, *, at: float) -> None:
        """A copy that nobody knew of; it does not show what it should."""
        with self._transaction():
            values = (bot, chat, message, letter, COPY)
            self._db.execute("INSERT OR IGNORE INTO sent VALUES (?, ?, ?, ?, ?)", values)
            self._db.execute(
                f"UPDATE letters SET at = {NEWLY_WAITING}, shown = min(shown, version - 1)"
                " WHERE id = ?",
                (at, letter),
            )

    def retire(self, bot: int) -> None:
        """Nobody finishes what another bot had begun: that one is no longer ours."""
        with self._transaction():
            self._db.execute("UPDATE letters SET open = 0 WHERE open AND bot != ?", (bot,))

    def lost(self, bot: int, chat: int, message: int) -> None:
        """Somebody has deleted it."""
        with self._transaction():
            self._db.execute(
                "DELETE FROM sent WHERE bot = ? AND chat = ? AND message = ?", (bot, chat, message)
            )

    def shown(self, letter: int, version: int) -> None:
        with self._transaction():
            self._db.execute(
                "UPDATE letters SET shown = max(shown, ?) WHERE id = ?", (version, letter)
            )

    def begin_anew(self, letter: int, *, at: float) -> None:
        """Whatever was shown of it is gone."""
        with self._transaction():
            self._db.execute("DELETE FROM sent WHERE letter = ?", (letter,))
            self._db.execute(
                f"UPDATE letters SET at = {NEWLY_WAITING}, shown = 0, tried = 0 WHERE id = ?",
                (at, letter),
            )

    def leave(self, bot: int, chat: int, *, at: float) -> None:
        """That chat is another now: what still matters of it is shown there anew."""
        there = "SELECT letter FROM sent WHERE bot = ? AND chat = ?"
        with self._transaction():
            self._db.execute(
                f"UPDATE letters SET at = {NEWLY_WAITING}, shown = 0, tried = 0"
                f" WHERE id IN ({there}) AND (shown < version OR open)",
                (at, bot, chat),
            )
            self._db.execute("DELETE FROM sent WHERE bot = ? AND chat = ?", (bot, chat))

    def tidy(self, before: float, *, seq: int) -> None:
        """What is done and so old that it cannot come again; no reader goes back before `seq`."""
        with self._transaction():
            self._db.execute("DELETE FROM inbox WHERE state = 'done' AND at < ?", (before,))
            self._db.execute(
                "DELETE FROM letters WHERE at < ? AND seq <= ? AND NOT open AND shown >= version"
                " AND key NOT LIKE 'stranger:%'",  # of whom nobody is told twice
                (before, seq),
            )
            for table in ("sent", "buttons"):
                self._db.execute(
                    f"DELETE FROM {table} WHERE letter NOT IN (SELECT id FROM letters)"
                )

    # --- looking

    def waiting(self, bot: int) -> list[StoredLetter]:
        """Letters that the chat does not show as they are, and those that will still change."""
        query = "SELECT id FROM letters WHERE bot = ? AND (shown < version OR open) ORDER BY id"
        with self._reader() as db:
            found = [letter for (letter,) in db.execute(query, (bot,))]
            return [self._letter(db, letter) for letter in found]

    def letter(self, letter: int) -> StoredLetter | None:
        with self._reader() as db:
            row = db.execute("SELECT 1 FROM letters WHERE id = ?", (letter,)).fetchone()
            return self._letter(db, letter) if row else None

    def has(self, bot: int, chat: str, key: str) -> bool:
        query = "SELECT 1 FROM letters WHERE bot = ? AND chat = ? AND key = ?"
        with self._reader() as db:
            return db.execute(query, (bot, chat, key)).fetchone() is not None

    def before(self, bot: int, chat: str, session: str, keys: str, seq: int) -> str | None:
        """The key of the session's last card or letter with such a key, up to that event."""
        query = (
            "SELECT key FROM letters WHERE bot = ? AND chat = ? AND session = ? AND seq <= ?"
            " AND (key GLOB 'card:*' OR substr(key, 1, ?) = ?) ORDER BY seq DESC, id DESC LIMIT 1"
        )
        with self._reader() as db:
            row = db.execute(query, (bot, chat, session, seq, len(keys), keys)).fetchone()
        return str(row[0]) if row else None

    def letter_of(self, bot: int, chat: int, message: int) -> StoredLetter | None:
        query = "SELECT letter FROM sent WHERE bot = ? AND chat = ? AND message = ?"
        with self._reader() as db:
            row = db.execute(query, (bot, chat, message)).fetchone()
        return self.letter(row[0]) if row else None

    def button(self, token: str) -> StoredButton | None:
        query = (
            "SELECT b.label, b.line, b.needs_text, l.id, l.chat, l.key, l.session,"
            " b.version = l.version"
            " FROM buttons b JOIN letters l ON l.id = b.letter WHERE b.token = ?"
        )
        with self._reader() as db:
            row = db.execute(query, (token,)).fetchone()
        if row is None:
            return None
        label, line, needs_text, letter, chat, key, session, current = row
        return StoredButton(
            token=token,
            label=label,
            line=line,
            needs_text=bool(needs_text),
            letter=letter,
            chat=chat,
            key=key,
            session=session,
            current=bool(current),
        )

    def _letter(self, db: sqlite3.Connection, letter: int) -> StoredLetter:
        row = db.execute(f"SELECT {LETTER} FROM letters WHERE id = ?", (letter,)).fetchone()
        id_, chat, key, seq, session, content, version, shown, tried, open_, at = row
        messages = db.execute(
            "SELECT part, message FROM sent WHERE letter = ? ORDER BY part, message", (letter,)
        ).fetchall()
        return StoredLetter(
            id=id_,
            chat=chat,
            key=key,
            seq=seq,
            session=session,
            content=content,
            version=version,
            shown=shown,
            tried=tried,
            open=bool(open_),
            at=at,
            messages=tuple(message for part, message in messages if part >= 0),
            copies=tuple(message for part, message in messages if part == COPY),
            document=next((message for part, message in messages if part == DOCUMENT), None),
            tokens=self._tokens(db, letter),
        )

    def _tokens(self, db: sqlite3.Connection, letter: int) -> dict[tuple[str, str], str]:
        query = "SELECT label, line, token FROM buttons WHERE letter = ?"
        return {(label, line): token for label, line, token in db.execute(query, (letter,))}

    # --- places

    def place(self, reader: str) -> int | None:
        """Up to where it has read."""
        with self._reader() as db:
            row = db.execute("SELECT seq FROM places WHERE reader = ?", (reader,)).fetchone()
        return int(row[0]) if row else None

    def keep_place(self, reader: str, seq: int) -> None:
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO places VALUES (?, ?)", (reader, seq))

    def oldest_open(self) -> int | None:
        """The event from which on a reader must look again to finish what is open."""
        with self._reader() as db:
            row = db.execute("SELECT min(seq) FROM letters WHERE open AND seq > 0").fetchone()
        return int(row[0]) if row and row[0] is not None else None
