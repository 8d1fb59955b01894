"""What an edit did, from what the CLI tells beside its result, or from what was asked."""

from __future__ import annotations

from typing import Any

from claude_sessions import engines as g
from claude_sessions.engines.edits import MOST_CHARACTERS, Edits
from claude_sessions.engines.translate import Translator

PATCH = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" a", "-b", "+B"]}


def edited(name: str, told: object, asked: dict[str, Any] | None = None) -> g.Edit | None:
    edits = Edits()
    edits.called("t", name, asked or {"file_path": "/w/a", "old_string": "b", "new_string": "B"})
    return edits.done("t", told, failed=False)


def test_the_hunks_that_are_told_become_a_patch() -> None:
    told = {"filePath": "/w/a", "structuredPatch": [PATCH, PATCH]}
    hunk = "@@ -1,2 +1,2 @@\n a\n-b\n+B"
    assert edited("Edit", told) == g.Edit(file="/w/a", patch=f"{hunk}\n{hunk}", added=2, removed=2)


def test_a_new_file_is_all_new_lines() -> None:
    told = {"type": "create", "filePath": "/w/n", "content": "1\n2\n", "structuredPatch": []}
    assert edited("Write", told) == g.Edit(
        file="/w/n", patch="@@ -0,0 +1,2 @@\n+1\n+2", added=2, removed=0
    )


def test_lines_that_look_like_headers_are_counted_like_any_other() -> None:
    lines = ["--- x", "+++ y", "\\ No newline at end of file"]
    found = edited("Edit", {"filePath": "/w/a", "structuredPatch": [{**PATCH, "lines": lines}]})
    assert found is not None
    assert (found.added, found.removed) == (1, 1)


def test_of_a_cell_the_source_is_compared_not_the_file() -> None:
    told = {"notebook_path": "/w/n.ipynb", "old_source": "a", "new_source": "b", "error": ""}
    found = edited("NotebookEdit", told)
    assert found == g.Edit(file="/w/n.ipynb", patch="@@ -1 +1 @@\n-a\n+b", added=1, removed=1)


def test_where_nothing_is_told_what_was_asked_counts() -> None:
    found = edited("Edit", None)
    assert found == g.Edit(file="/w/a", patch="@@ -1 +1 @@\n-b\n+B", added=1, removed=1)


def test_of_a_huge_patch_only_the_lines_are_counted() -> None:
    told = {
        "type": "create",
        "filePath": "/w/n",
        "content": "x\n" * MOST_CHARACTERS,
        "structuredPatch": [],
    }
    assert edited("Write", told) == g.Edit(file="/w/n", patch="", added=MOST_CHARACTERS, removed=0)


def test_a_file_that_was_written_as_it_was_is_not_changed() -> None:
    told = {"type": "update", "filePath": "/w/a", "content": "a", "structuredPatch": []}
    assert edited("Write", told) is None


def test_what_failed_or_was_no_edit_changed_nothing() -> None:
    edits = Edits()
    edits.called("t", "Edit", {"file_path": "a"})
    assert edits.done("t", None, failed=True) is None
    assert edits.done("unknown", None, failed=False) is None
    assert edited("Read", {"filePath": "/w/a", "structuredPatch": [PATCH]}) is None


def test_a_patch_that_cannot_be_read_costs_the_patch_and_not_the_result() -> None:
    translator = Translator()
    call = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "a"}}
    translator.feed({"type": "assistant", "uuid": "u", "message": {"content": [call]}})
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    frame = {
        "type": "user",
        "message": {"content": [result]},
        "tool_use_result": {"filePath": "a", "structuredPatch": [{"novelty": 1}]},
    }
    assert translator.feed(frame) == [g.ToolResult(id="t", content="ok")]
