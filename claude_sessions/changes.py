"""What the last turn did to files: a small part of a session's state. Pure.

A turn that Claude began by itself counts to the one a person began before it: putting the files
back to before that person's message undoes both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from claude_sessions import events as e
from claude_sessions.approvals.paths import absolute, home_directory


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    path: str  # absolute
    added: int  # lines, over all edits
    removed: int
    by_subagent: bool = False  # first by one: Claude keeps no checkpoint of that


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    turn: str | None = None
    checkpoint: str = ""  # the message before which the files can be put back; empty: none can
    files: tuple[FileChange, ...] = ()
    until: datetime | None = None  # whatever changed a file later was not this turn
    undone: bool = False

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)

    @property
    def undoable(self) -> bool:
        saved = any(not file.by_subagent for file in self.files)
        return bool(self.checkpoint) and saved and not self.undone


NO_CHANGES = Changes()


def begun(before: Changes, event: e.Event, started: e.TurnStarted) -> Changes:
    if not started.message_ids:
        return before
    return Changes(turn=event.turn, checkpoint=started.message_ids[0])


def changed(before: Changes, event: e.Event, output: e.ToolOutput, directory: str) -> Changes:
    path = absolute(output.file, directory, home_directory())
    files = {file.path: file for file in before.files if not before.undone}
    new = FileChange(path=path, added=0, removed=0, by_subagent=bool(output.parent_tool_use_id))
    old = files.get(path, new)
    files[path] = replace(old, added=old.added + output.added, removed=old.removed + output.removed)
    return replace(before, files=tuple(files.values()), until=event.at, undone=False)
