"""What a turn changed in files, as people read it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from claude_sessions import events as e
from claude_sessions.approvals.paths import home_directory, shown
from claude_sessions.approvals.preview import Preview, clip
from claude_sessions.approvals.visible import one_line, visible
from claude_sessions.channel import Action
from claude_sessions.commands.figures import count, lines_changed
from claude_sessions.state import SessionState

LINES, CHARACTERS = 80, 3000  # of a diff in a chat
NAMED = 5
OF_A_NEW_FILE = re.compile(r"@@ -[01],0 \+1\b")
NOT_COMMANDS = "What commands changed was not undone."


def changed(state: SessionState) -> str:
    """`3 files +21 −6`, or nothing."""
    changes = state.changes
    if not changes.files or changes.undone:
        return ""
    return _figures(len(changes.files), changes.added, changes.removed)


def _figures(files: int, added: int, removed: int) -> str:
    return f"{count(files, 'file')} {lines_changed(added, removed)}"


def name_of(path: str, directory: str) -> str:
    return one_line(shown(path, directory, home_directory()), 200)


def unified(outputs: Sequence[e.ToolOutput], directory: str) -> str:
    """Each edit under a header of its own, in the order they were made."""
    return "\n".join(line for output in outputs for line in _edit(output, directory))


def _edit(output: e.ToolOutput, directory: str) -> Iterator[str]:
    name = name_of(output.file, directory)
    new = OF_A_NEW_FILE.match(output.patch)
    yield "--- /dev/null" if new else f"--- a/{name}"
    yield f"+++ b/{name}"
    if output.patch:
        yield output.patch
    elif output.added or output.removed:
        figures = lines_changed(output.added, output.removed)
        yield f"({figures} lines: too much to be kept)"


def told(
    state: SessionState,
    number: int,
    files: Sequence[tuple[str, int, int]],
    diff: str,
    *,
    undone: bool,
) -> str:
    added, removed = sum(file[1] for file in files), sum(file[2] for file in files)
    head = f"{state.name}, turn {number}: {_figures(len(files), added, removed)}"
    whole = Preview(title="", body=visible(diff), kind="diff", language="diff", summary="")
    body = clip(whole, lines=LINES, chars=CHARACTERS).body
    return "\n".join([head + (" (undone)" if undone else ""), body])


def nothing(state: SessionState, number: int) -> str:
    return (
        f"Turn {number} of {state.name} changed no files with Claude's own tools. "
        "What commands changed is not recorded."
    )


def undone(state: SessionState, files: Sequence[str], kept: Sequence[str]) -> str:
    are = "is" if len(files) == 1 else "are"
    said = f"{state.name}: turn undone, {count(len(files), 'file')} {are} as before. {NOT_COMMANDS}"
    return f"{said} Nor was this put back: {names(state, kept)}." if kept else said


def unsure(state: SessionState, files: Sequence[str]) -> tuple[str, tuple[Action, ...]]:
    text = (
        f"Not by the last turn of {state.name}, or changed again since: {names(state, files)}. "
        "Undoing it would put that back too, and what is there now would be lost."
    )
    return text, (Action(label="Undo anyway", line=f"/undo {state.id} --yes"),)


def names(state: SessionState, files: Sequence[str]) -> str:
    known = [name_of(path, state.spec.directory) for path in files[:NAMED]]
    more = len(files) - len(known)
    return ", ".join(known) + (f" and {more:,} more" if more else "")
