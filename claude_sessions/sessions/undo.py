"""Putting the files of a turn back, from the checkpoints that Claude keeps."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from claude_sessions import engines as g
from claude_sessions.changes import Changes
from claude_sessions.errors import Conflict
from claude_sessions.state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    files: tuple[str, ...]
    kept: tuple[str, ...]  # not put back: there is no checkpoint of what a subagent does


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure:
    """Nothing was done yet: these were changed by somebody else, and that would be lost."""

    files: tuple[str, ...]


def refuse_undo(state: SessionState) -> None:
    name, changes = state.name, state.changes
    if state.turn is not None:
        raise Conflict(f"{name} is at work. /interrupt {name}, or wait until its turn is over.")
    if state.queue:
        raise Conflict(f"{name} has messages queued, which go first. /queue {name} lists them.")
    if changes.undone:
        raise Conflict(f"The last turn of {name} is undone already.")
    if not changes.files:
        raise Conflict(
            f"The last turn of {name} changed no files. What commands changed cannot be undone."
        )
    if not changes.checkpoint:
        raise Conflict(f"{name} has no file checkpoint of its last turn. /diff {name} shows it.")
    if not changes.undoable:
        raise Conflict(
            f"Only subagents of {name} changed files, and of that there is no file checkpoint. "
            f"/diff {name} shows it."
        )


async def put_back(
    state: SessionState, conversation: g.Conversation, *, confirmed: bool
) -> Undone | Unsure:
    refuse_undo(state)
    changes = state.changes
    differ = await conversation.rewindable(changes.checkpoint)
    if not differ:
        raise Conflict(f"The files of {state.name} are as they were before its last turn.")
    if not confirmed:
        others = await asyncio.to_thread(changed_otherwise, differ, changes)
        if others:
            return Unsure(files=others)
    await conversation.rewind(changes.checkpoint)
    left = await conversation.rewindable(changes.checkpoint)
    back = tuple(path for path in differ if path not in left)
    if not back:
        raise Conflict(f"Claude could not put the files of {state.name} back.")
    kept = (file.path for file in changes.files if file.by_subagent)
    return Undone(files=back, kept=(*left, *_others(kept, differ)))


def changed_otherwise(paths: Iterable[str], changes: Changes) -> tuple[str, ...]:
    """Those that the turn did not change, or that somebody has changed, or deleted, since.

    Claude puts back every file it has a checkpoint of, whoever changed it.
    """
    own = {os.path.realpath(file.path) for file in changes.files}
    return tuple(
        path
        for path in paths
        if os.path.realpath(path) not in own or _touched_since(path, changes.until)
    )


def _touched_since(path: str, moment: datetime | None) -> bool:
    try:
        return moment is None or os.stat(path).st_mtime > moment.timestamp()
    except OSError:
        return True


def _others(paths: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    there = {os.path.realpath(path) for path in known}
    return tuple(path for path in paths if os.path.realpath(path) not in there)
