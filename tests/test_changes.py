"""What the last turn did to files, folded from the log."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from claude_sessions import events as e
from claude_sessions.changes import Changes, FileChange, begun, changed
from claude_sessions.sessions.undo import changed_otherwise

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKED = e.TurnStarted(message_ids=("m1",))


def happened(payload: e.Payload, turn: str = "t1") -> e.Event:
    return e.Event(
        seq=1,
        epoch="",
        session_seq=1,
        id="",
        at=NOON,
        runner="",
        project=None,
        session="s",
        run=None,
        turn=turn,
        payload=payload,
    )


def output(file: str, added: int = 1, removed: int = 0, by: str | None = None) -> e.ToolOutput:
    return e.ToolOutput(
        tool_use_id="t",
        content="",
        file=file,
        added=added,
        removed=removed,
        parent_tool_use_id=by,
    )


def after(*outputs: e.ToolOutput, before: Changes | None = None) -> Changes:
    changes = before or begun(Changes(), happened(ASKED), ASKED)
    for each in outputs:
        changes = changed(changes, happened(each), each, "/web")
    return changes


def test_edits_of_one_file_are_added_up_however_it_is_named() -> None:
    changes = after(output("a.ts", 2, 1), output("/web/./a.ts", 3), output("/etc/b"))
    assert [(f.path, f.added, f.removed) for f in changes.files] == [
        ("/web/a.ts", 5, 1),
        ("/etc/b", 1, 0),
    ]
    assert (changes.added, changes.removed, changes.until) == (6, 1, NOON)
    assert changes.undoable


def test_a_turn_of_claudes_own_counts_to_the_one_before_it() -> None:
    own = e.TurnStarted(injected=True)
    changes = begun(after(output("a")), happened(own, "t2"), own)
    changes = after(output("b"), before=changes)
    assert (changes.turn, changes.checkpoint, len(changes.files)) == ("t1", "m1", 2)
    assert begun(changes, happened(ASKED, "t3"), ASKED).files == ()


def test_only_what_has_a_checkpoint_can_be_undone() -> None:
    assert not after().undoable
    assert not after(output("a", by="task")).undoable
    assert after(output("a", by="task"), output("b")).undoable
    assert not replace(after(output("a")), checkpoint="").undoable


def test_what_comes_after_an_undo_is_all_there_is_to_undo() -> None:
    undone = replace(after(output("a")), undone=True)
    assert not undone.undoable
    again = after(output("b"), before=undone)
    assert [file.path for file in again.files] == ["/web/b"]
    assert again.undoable


def test_a_file_that_was_touched_since_or_by_others_is_noticed(tmp_path: Path) -> None:
    own, other, gone = tmp_path / "own", tmp_path / "other", tmp_path / "gone"
    own.touch()
    other.touch()
    written = datetime.fromtimestamp(own.stat().st_mtime, UTC)
    files = tuple(FileChange(path=str(path), added=1, removed=0) for path in (own, gone))
    changes = Changes(files=files, until=written + timedelta(seconds=1))
    paths = [str(own), str(other), str(gone)]
    assert changed_otherwise(paths, changes) == (str(other), str(gone))
    earlier = replace(changes, until=written - timedelta(seconds=1))
    assert changed_otherwise([str(own)], earlier) == (str(own),)
