"""Which session is meant where none is named: the one in front."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from claude_sessions import commands as c
from claude_sessions.channel import Action
from claude_sessions.commands.lines import line_on
from claude_sessions.commands.pool import Pool
from claude_sessions.errors import BadRequest, Conflict
from claude_sessions.people import Caller

OFFERED = 6


def at(command: c.Command, session: str) -> c.Command:
    """The command about this session, unless it names another, or none at all."""
    about: Any = command
    return replace(about, session=session) if names_nobody(command) else command


def names_nobody(command: c.Command) -> bool:
    return getattr(command, "session", None) == c.HERE


async def resolved(pool: Pool, command: c.Command, caller: Caller) -> c.Command:
    """One in front: that. Several: they are asked which, since luck must not choose."""
    if not names_nobody(command):
        return command
    fronts = pool.log.store.fronts(caller.channel or "")
    if len(fronts) == 1:
        return at(command, fronts[0])
    if not fronts:
        raise BadRequest("Which session? None is in front here. /sessions lists those there are.")
    states = [await pool.book.load(session) for session in fronts[:OFFERED]]
    which = Conflict(f"Which one? {len(fronts)} sessions are in front here.")
    which.actions = tuple(
        Action(label=state.name, line=line_on(at(command, state.id))) for state in states
    )
    raise which
