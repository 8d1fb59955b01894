"""What an edit would change, as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from claude_sessions.approvals.calls import text_of

MOST_LINES = 3000  # beyond this a line-by-line comparison takes seconds; one block is shown
NO_NEWLINE = "\n\\ No newline at end of file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    text: str
    added: int
    removed: int


def difference(tool_name: str, values: Mapping[str, Any], current: str | None) -> Difference:
    diffs = [_unified(old, new) for old, new in _pairs(tool_name, values, current)]
    lines = [line for diff in diffs for line in diff]
    return Difference(
        text="\n".join(lines),
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
    )


def _pairs(tool_name: str, values: Mapping[str, Any], current: str | None) -> list[tuple[str, str]]:
    """Old and new text of each change; of the whole file where its content is known."""
    if tool_name == "Write":
        return [(current or "", text_of(values, "content"))]
    if tool_name == "NotebookEdit":
        return [(text_of(values, "old_source"), text_of(values, "new_source"))]
    edits = values.get("edits") if tool_name == "MultiEdit" else [values]
    edits = edits if isinstance(edits, list | tuple) else ()
    found = [edit for edit in edits if isinstance(edit, Mapping)]
    if current is not None and (edited := _edited(found, current)) is not None:
        return [(current, edited)]
    return [(text_of(edit, "old_string"), text_of(edit, "new_string")) for edit in found]


def _edited(edits: list[Mapping[str, Any]], text: str) -> str | None:
    for edit in edits:
        old = text_of(edit, "old_string")
        if not old or old not in text:
            return None
        text = text.replace(old, text_of(edit, "new_string"), -1 if edit.get("replace_all") else 1)
    return text


def _unified(old: str, new: str) -> list[str]:
    before, after = _lines(old, new), _lines(new, old)
    if len(before) + len(after) > MOST_LINES:
        return list(_block(before, after))
    # The first two lines are headers; a changed line may look like one, so count, never filter.
    return list(difflib.unified_diff(before, after, lineterm=""))[2:]


def _lines(text: str, other: str) -> list[str]:
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    if other.endswith("\n") and not text.endswith("\n"):
        lines[-1] += NO_NEWLINE
    return lines


def _block(before: list[str], after: list[str]) -> Iterator[str]:
    """The one stretch between the common beginning and the common end."""
    start = _common(before, after)
    before, after = before[start:], after[start:]
    end = _common(before[::-1], after[::-1])
    gone, came = before[: len(before) - end], after[: len(after) - end]
    if gone or came:
        yield f"@@ -{start + 1},{len(gone)} +{start + 1},{len(came)} @@"
        yield from (f"-{line}" for line in gone)
        yield from (f"+{line}" for line in came)


def _common(left: list[str], right: list[str]) -> int:
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
