"""What the tools that edit did to files. Pure.

Beside the result of a tool the CLI tells what has changed. Of a subagent's tools it tells nothing:
there the change is read from what the tool was asked to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from claude_sessions import engines as g
from claude_sessions.approvals.calls import EDIT_TOOLS, text_of
from claude_sessions.approvals.difference import Difference, difference

MOST_CHARACTERS = 256 * 1024  # of one patch; of a larger one only the lines are counted
CALLS = 64  # under way at once


class Edits:
    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def called(self, id_: str, name: str, values: object) -> None:
        if name in EDIT_TOOLS and isinstance(values, Mapping):
            self._calls[id_] = (name, values)
            if len(self._calls) > CALLS:
                del self._calls[next(iter(self._calls))]

    def done(self, id_: str, told: object, failed: bool) -> g.Edit | None:
        call = self._calls.pop(id_, None)
        if failed or call is None:
            return None
        try:
            return _told(call[0], told) if _is_readable(told) else _asked(*call)
        except (KeyError, TypeError):  # the result itself must not be lost for it
            return None


def _is_readable(told: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(told, Mapping) and ("structuredPatch" in told or "new_source" in told)


def _told(name: str, told: Mapping[str, Any]) -> g.Edit | None:
    if name == "NotebookEdit":
        return _asked(name, told)
    file = text_of(told, "filePath")
    if told.get("type") == "create":
        made = difference("Write", {"content": text_of(told, "content")}, None)
        return _edit(file, made)
    hunks = [_hunk(hunk) for hunk in told.get("structuredPatch") or ()]
    if not hunks:
        return None  # it was written as it was
    lines = [line for hunk in hunks for line in hunk[1:]]
    return _edit(
        file,
        Difference(
            text="\n".join(line for hunk in hunks for line in hunk),
            added=sum(line.startswith("+") for line in lines),
            removed=sum(line.startswith("-") for line in lines),
        ),
    )


def _hunk(hunk: Mapping[str, Any]) -> list[str]:
    before = f"-{hunk['oldStart']},{hunk['oldLines']}"
    after = f"+{hunk['newStart']},{hunk['newLines']}"
    return [f"@@ {before} {after} @@", *map(str, hunk["lines"])]


def _asked(name: str, values: Mapping[str, Any]) -> g.Edit | None:
    return _edit(text_of(values, "file_path", "notebook_path"), difference(name, values, None))


def _edit(file: str, made: Difference) -> g.Edit | None:
    if not file:
        return None
    patch = made.text if len(made.text) <= MOST_CHARACTERS else ""
    return g.Edit(file=file, patch=patch, added=made.added, removed=made.removed)
