"""The shape of the log's file, and how an older file becomes a current one.

Migrations only go forward. Those that a file needs are one transaction together with the new
`user_version`, so that a crash in the middle leaves the older file whole.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

from claude_sessions.errors import SessionsError, StorageFull
from claude_sessions.storage import figures, mail, presence
from claude_sessions.storage.index import rebuild

V1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    session_seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,      -- microseconds, UTC
    project TEXT,
    session TEXT,
    run TEXT,
    turn TEXT,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    payload TEXT,             -- JSON; NULL when it lies in blobs
    caller TEXT,
    caused_by TEXT,
    blob TEXT                 -- hash of the payload in blobs
);
CREATE UNIQUE INDEX events_session ON events (session, session_seq) WHERE session IS NOT NULL;
CREATE TABLE blobs (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
"""

V2 = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,  -- case-folded
    status TEXT NOT NULL,
    directory TEXT NOT NULL,
    project TEXT,
    claude_ids TEXT NOT NULL,       -- JSON, oldest first
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_seq INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX events_endings ON events (seq) WHERE type = 'session.ended';
CREATE INDEX sessions_status ON sessions (status, updated_at);
CREATE TABLE claude_ids (
    claude_id TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (claude_id, session)
) WITHOUT ROWID;
"""

V3 = f"""
ALTER TABLE sessions ADD COLUMN reason TEXT;
ALTER TABLE sessions ADD COLUMN origin TEXT;
ALTER TABLE sessions ADD COLUMN prompt TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN cost_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN cost_unknown INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN ended_at INTEGER;
ALTER TABLE sessions ADD COLUMN resets_at REAL;
ALTER TABLE sessions ADD COLUMN line INTEGER;  -- place in the line for a process
ALTER TABLE sessions ADD COLUMN news INTEGER;  -- cut off by the daemon's end, not yet told
CREATE INDEX sessions_recent ON sessions (updated_at);
CREATE INDEX sessions_line ON sessions (line) WHERE line IS NOT NULL;
CREATE INDEX sessions_news ON sessions (news) WHERE news IS NOT NULL;
CREATE INDEX sessions_cost ON sessions (cost_usd);
CREATE TABLE drafts (
    session TEXT PRIMARY KEY,       -- whose words were not finished when they were last noted
    block TEXT NOT NULL,
    text TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE fronts (
    channel TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,           -- when it came forward there
    PRIMARY KEY (channel, session)
) WITHOUT ROWID;
{figures.SCHEMA.strip()}
"""


def _run(script: str) -> Callable[[sqlite3.Connection], None]:
    def migrate(db: sqlite3.Connection) -> None:
        # Not `executescript`: it commits first, and the migration would no longer be one piece.
        for statement in re.split(r";(?: *--.*)?\n", script):
            db.execute(statement)

    return migrate


def _empty_index(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM sessions")
    db.execute("DELETE FROM claude_ids")


MIGRATIONS: tuple[tuple[Callable[[sqlite3.Connection], None], ...], ...] = (
    (_run(V1),),
    (_run(V2),),  # filled by the next
    (_run(V3), _empty_index, rebuild),
    (_run(mail.SCHEMA),),
    (_run(presence.SCHEMA),),
)
VERSION = len(MIGRATIONS)


def connect_for_reading(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"  # never makes a file
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=5.0)
    db.execute("PRAGMA query_only = ON")
    return db


def prepare(path: Path, *, max_pages: int | None = None) -> sqlite3.Connection:
    """Create or migrate the file; returns the connection to write with.

    Transactions are begun by hand.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # SQLite gives its side files the mode of the main one.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
    except OSError as error:
        reason = error.strerror
        raise SessionsError(
            f"The log cannot be opened at {path} ({reason}). Move it away, or use another --home."
        ) from error
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    try:
        _refuse_newer(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA journal_size_limit = 67108864")
        # Folding the side file in stops the writer: do it a quarter as often as SQLite would.
        db.execute("PRAGMA wal_autocheckpoint = 4000")
        if max_pages is not None:
            db.execute(f"PRAGMA max_page_count = {max_pages:d}")
        _migrate(db)
    except sqlite3.DatabaseError as error:
        db.close()
        raise _explained(error, path) from error
    except BaseException:
        db.close()
        raise
    return db


def _refuse_newer(db: sqlite3.Connection, path: Path) -> None:
    if (version := _version(db)) > VERSION:
        raise SessionsError(
            f"{path} was written by a newer claude-sessions (its format is {version}, this one "
            f"knows {VERSION}). Upgrade claude-sessions, or use another --home."
        )


def _migrate(db: sqlite3.Connection) -> None:
    if (version := _version(db)) == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for steps in MIGRATIONS[version:]:
            for step in steps:
                step(db)
        db.execute(f"PRAGMA user_version = {VERSION:d}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _explained(error: sqlite3.DatabaseError, path: Path) -> SessionsError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StorageFull(f"{path} could not be opened: {error}. Make room on the disk.")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return SessionsError(
            f"{path} is not a log, or it is damaged ({error}). Put back a backup, or move it away "
            "to start with an empty log."
        )
    return SessionsError(f"{path} could not be opened: {error}.")
