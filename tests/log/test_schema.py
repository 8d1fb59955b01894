"""The file itself: its versions, its modes."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from claude_sessions import codec
from claude_sessions import events as e
from claude_sessions.errors import SessionsError
from claude_sessions.model import Status
from claude_sessions.storage import schema
from claude_sessions.storage.sqlite import Store

# As version 1 wrote it: never to be changed, whatever becomes of the schema.
FILE_OF_VERSION_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, session_seq INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
    project TEXT, session TEXT, run TEXT, turn TEXT, type TEXT NOT NULL, version INTEGER NOT NULL,
    payload TEXT, caller TEXT, caused_by TEXT, blob TEXT
);
CREATE UNIQUE INDEX events_session ON events (session, session_seq) WHERE session IS NOT NULL;
CREATE TABLE blobs (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
INSERT INTO meta VALUES ('epoch', 'old-epoch');
PRAGMA user_version = 1;
"""


def old_file(path: Path, payloads: list[e.Payload]) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FILE_OF_VERSION_1)
        for place, payload in enumerate(payloads, 1):
            data = orjson.dumps(codec.encode(payload)).decode()
            db.execute(
                "INSERT INTO events VALUES (?, ?, ?, ?, 'p1', 's1', 'r1', NULL, ?, 1, ?, NULL,"
                " NULL, NULL)",
                (place, place, f"id-{place}", 1_700_000_000_000_000 + place, payload.TYPE, data),
            )
        db.commit()


def test_an_older_file_gets_its_index_from_its_events(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    story: list[e.Payload] = [
        e.SessionCreated(project_id="p1", name="first", directory="/srv"),
        e.SessionStarted(claude_session_id="c1"),
        e.UserMessage(message_id="m1", text="hello"),
        e.SessionRenamed(name="Second"),
    ]
    old_file(path, story)
    with Store(path, runner="runner01") as store:
        row = store.session_row("second")
        assert row is not None
        assert (row.id, row.status, row.claude_ids) == ("s1", Status.RUNNING, ("c1",))
        assert (row.last_seq, store.epoch) == (4, "old-epoch")
        assert [event.payload for event in store.events(limit=10)] == story
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_a_migrated_file_has_the_shape_of_a_new_one(tmp_path: Path) -> None:
    old_file(tmp_path / "old.sqlite", [])
    shapes = []
    for name in ("old.sqlite", "new.sqlite"):
        with Store(tmp_path / name, runner="r"), closing(sqlite3.connect(tmp_path / name)) as db:
            tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema ORDER BY 1")]
            columns = [db.execute(f"PRAGMA table_info({table})").fetchall() for table in tables]
            shapes.append((tables, columns))
    assert shapes[0] == shapes[1]


def test_a_migration_that_fails_leaves_the_older_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    created = e.SessionCreated(project_id="p1", name="first", directory="/srv")
    old_file(path, [created, created])  # the index cannot hold one session twice
    with pytest.raises(SessionsError, match="could not be opened"):
        Store(path, runner="runner01")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema")]
        assert "sessions" not in tables


def test_a_file_from_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(SessionsError, match=r"newer claude-sessions .*Upgrade"):
        Store(path, runner="runner01")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (99,)


def test_something_that_is_no_database_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    path.write_bytes(b"these are not the bytes you are looking for" * 100)
    with pytest.raises(SessionsError, match="is not a log"):
        Store(path, runner="runner01")


def test_only_its_owner_can_read_the_file_and_its_side_files(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").touch(mode=0o644)
    with Store(tmp_path / "log.sqlite", runner="runner01"):
        files = list(tmp_path.iterdir())
        assert len(files) == 3
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_every_commit_reaches_the_disk(tmp_path: Path) -> None:
    with closing(schema.prepare(tmp_path / "log.sqlite")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_log_that_cannot_be_opened_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "log.db").mkdir()
    with pytest.raises(SessionsError, match="Move it away"):
        schema.prepare(tmp_path / "log.db")
