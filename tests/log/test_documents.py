"""The small things people own, in one readable file."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from structlog.testing import capture_logs

from claude_sessions.errors import SessionsError
from claude_sessions.storage.documents import Documents, Table
from tests.disk import no_file_longer_than


class Note(BaseModel):
    text: str
    at: datetime | None = None
    tags: list[str] = []


NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "documents.json"


def notes(path: Path) -> Table[Note]:
    return Documents(path, clock=lambda: NOON).table("notes", Note)


def test_documents_survive_a_restart_as_they_were(path: Path) -> None:
    note = Note(text="héllo", at=NOON, tags=["a"])
    notes(path).put("k1", note)
    assert notes(path).all() == {"k1": note}
    assert notes(path).get("k1") == note
    assert notes(path).get("k2") is None


def test_the_file_is_readable_private_and_leaves_nothing_beside_it(path: Path) -> None:
    notes(path).put("/srv/app", Note(text="x"))
    stored = json.loads(path.read_text())
    assert stored == {"notes": {"/srv/app": {"text": "x", "at": None, "tags": []}}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == [path.name]


def test_what_is_not_there_cannot_be_removed(path: Path) -> None:
    table = notes(path)
    table.put("k1", Note(text="x"))
    assert (table.remove("k1"), table.remove("k1")) == (True, False)
    assert table.all() == {}


def test_tables_do_not_touch_each_other(path: Path) -> None:
    documents = Documents(path)
    documents.table("a", Note).put("k1", Note(text="a"))
    documents.table("b", Note).put("k1", Note(text="b"))
    documents.table("a", Note).remove("k1")
    assert documents.table("b", Note).all() == {"k1": Note(text="b")}


def test_an_edit_by_hand_is_seen(path: Path) -> None:
    table = notes(path)
    table.put("k1", Note(text="old"))
    path.write_text('{"notes": {"k1": {"text": "new"}}}')
    assert table.get("k1") == Note(text="new")


@pytest.mark.parametrize("junk", ['{"notes": {"k1"', "[1]", '{"notes": 3}', "\0\0", ""])
def test_a_damaged_file_is_set_aside_and_said(path: Path, junk: str) -> None:
    path.write_text(junk)
    with capture_logs() as lines:
        assert notes(path).all() == {}
    aside = path.with_name("documents.json.damaged-20260102T120000000000")
    assert aside.read_text() == junk
    assert lines[0]["event"] == "documents.damaged"
    assert lines[0]["kept_as"] == str(aside)
    notes(path).put("k1", Note(text="goes on"))
    assert aside.read_text() == junk


def test_a_document_that_makes_no_sense_is_named_not_passed_over(path: Path) -> None:
    path.write_text('{"notes": {"k1": {"text": 3}}}')
    with pytest.raises(SessionsError, match=r"documents\.json: notes\.k1\.text: .*string"):
        notes(path).all()


def test_a_write_that_fails_leaves_the_old_file(path: Path) -> None:
    table = notes(path)
    table.put("k1", Note(text="old"))
    with no_file_longer_than(1000), pytest.raises(SessionsError, match="could not be written"):
        table.put("k1", Note(text="new" * 1000))
    assert table.all() == {"k1": Note(text="old")}
    assert os.listdir(path.parent) == [path.name]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.text(max_size=5)))))
@settings(max_examples=40, deadline=None)
def test_a_table_is_a_dictionary_that_stays(
    tmp_path_factory: pytest.TempPathFactory, story: list[tuple[str, str | None]]
) -> None:
    table = notes(tmp_path_factory.mktemp("documents") / "documents.json")
    wanted: dict[str, Note] = {}
    for id_, text in story:
        if text is None:
            assert table.remove(id_) == (wanted.pop(id_, None) is not None)
        else:
            wanted[id_] = Note(text=text)
            table.put(id_, wanted[id_])
        assert table.all() == wanted
