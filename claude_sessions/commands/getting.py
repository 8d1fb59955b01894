"""Files of a session's directory, for whoever may talk to it."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from claude_sessions import commands as c
from claude_sessions.approvals.guarded import why_secret
from claude_sessions.approvals.visible import one_line
from claude_sessions.commands.figures import size
from claude_sessions.commands.pool import Pool, about
from claude_sessions.commands.workdirs import shown
from claude_sessions.errors import BadRequest, Forbidden, NotFound
from claude_sessions.people import Caller
from claude_sessions.state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """`inode`: device and number, so that whoever opens it knows that it is still this one."""

    path: Path
    length: int
    inode: tuple[int, int]


async def get(pool: Pool, command: c.GetFile, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    found = await asyncio.to_thread(_found, pool, state, command.path)
    own = Path(state.spec.directory)
    inside = found.path.is_relative_to(own)
    name = str(found.path.relative_to(own)) if inside else shown(found.path)
    text = f"{state.name}: {one_line(name, 200)} · {size(found.length)}"
    place = one_line(shown(found.path), 400)
    return about(
        f"{text}\nIt lies at {place}",
        state,
        file=str(found.path),
        caption=text,
        bytes=found.length,
        inode=found.inode,
    )


def _found(pool: Pool, state: SessionState, given: str) -> FoundFile:
    """Judged by where it really is: a link inside may lead anywhere."""
    word = one_line(given, 100)
    try:
        path = (Path(state.spec.directory) / Path(given).expanduser()).resolve()
        _refuse(pool, state, path, word)
        known = path.stat()
    except (OSError, ValueError, RuntimeError):
        raise NotFound(
            f"{state.name} has no file {word}. It looks in {shown(Path(state.spec.directory))}."
        ) from None
    if stat.S_ISDIR(known.st_mode):
        raise BadRequest(
            f"{word} is a directory. Name a file in it, or have it packed:"
            f" /say {state.name} Pack {word} into a zip file"
        )
    if not stat.S_ISREG(known.st_mode) or not os.access(path, os.R_OK):
        raise BadRequest(f"{word} cannot be read.")
    return FoundFile(path=path, length=known.st_size, inode=(known.st_dev, known.st_ino))


def _refuse(pool: Pool, state: SessionState, path: Path, word: str) -> None:
    if not path.is_relative_to(state.spec.directory) and not pool.workdirs.holds(path):
        raise Forbidden(
            f"{word} is outside of {state.name}'s directory and of the allowed ones."
            " Have it copied there, or add its directory under [sessions] workdirs."
        )
    if why := why_secret(str(path)):
        raise Forbidden(f"{word} is {why}: it stays on this machine.")
    if any(path.is_relative_to(own) for own in pool.private):
        raise Forbidden(f"{word} belongs to claude-sessions itself: it stays on this machine.")
