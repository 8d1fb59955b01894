"""Conversations that were begun in a plain terminal, and making them sessions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from claude_sessions import commands as c
from claude_sessions.approvals.visible import one_line
from claude_sessions.commands import found as texts
from claude_sessions.commands.pool import Pool, about, mode_for
from claude_sessions.commands.workdirs import Workdirs
from claude_sessions.engines.transcripts import Found
from claude_sessions.errors import Conflict, NoSession, SessionsError
from claude_sessions.model import SessionSpec
from claude_sessions.people import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Strangers:
    """Conversations that no session of ours owns."""

    free: tuple[Found, ...]  # may be adopted
    shut: tuple[Found, ...]  # in directories where sessions may not run


async def list_found(pool: Pool, command: c.ListFound, caller: Caller) -> c.Reply:
    reply = await with_found(pool, c.Reply(text=""))
    nothing = "No conversation was begun in a terminal that is not a session already."
    return reply if reply.text else replace(reply, text=nothing)


async def with_found(pool: Pool, reply: c.Reply) -> c.Reply:
    """What may be adopted, after what else there is to say."""
    strangers = await _strangers(pool)
    text, actions = texts.conversations(strangers.free, pool.clock.now(), shut=len(strangers.shut))
    ids = [one.claude_id for one in strangers.free]
    return replace(
        reply,
        text="\n\n".join(part for part in (reply.text, text) if part),
        data={**reply.data, "found": ids},
        actions=(*reply.actions, *actions),
    )


async def _strangers(pool: Pool) -> Strangers:
    everything = await asyncio.to_thread(pool.transcripts.conversations)
    # Owners afterwards: a session that starts meanwhile must not look like a stranger.
    rows = await pool.log.session_rows(identified=True)
    owned = {claude_id for row in rows for claude_id in row.claude_ids}
    others = [one for one in everything if one.claude_id not in owned]
    free = await asyncio.to_thread(_may_run, pool.workdirs, others)
    shut = tuple(one for one in others if one not in free)
    return Strangers(free=free, shut=shut)


def _may_run(workdirs: Workdirs, conversations: list[Found]) -> tuple[Found, ...]:
    places = {one.directory for one in conversations}
    allowed = {place for place in places if _is_allowed(workdirs, place)}
    return tuple(one for one in conversations if one.directory in allowed)


def _is_allowed(workdirs: Workdirs, directory: str) -> bool:
    try:
        workdirs.resolve(directory)
    except (SessionsError, OSError, ValueError):  # a directory is what a file says it is
        return False
    return True


async def adopt(pool: Pool, command: c.Adopt, caller: Caller) -> c.Reply:
    one = await _meant(pool, command.conversation)
    directory = pool.workdirs.resolve(one.directory)
    spec = SessionSpec(
        directory=directory,
        model=pool.defaults.model,
        mode=mode_for(pool, None, caller),
        budget_usd=pool.defaults.budget_usd,
        trusted=pool.trust.covers(directory),
    )
    state = await pool.manager.adopt(
        spec,
        one.claude_id,
        one.title,
        name=command.name,
        origin=pool.origins.of(None, caller.channel, directory),
        caller=str(caller),
    )
    text, actions = texts.adopted(state, wanted=command.name)
    return about(text, state, actions, claudeSessionId=one.claude_id)


async def _meant(pool: Pool, wanted: str) -> Found:
    """By its id, the beginning of it, or part of its title."""
    if (owner := await pool.log.session_row(wanted)) and wanted in owner.claude_ids:
        raise Conflict(texts.owned(owner.name))
    strangers = await _strangers(pool)
    fits = _fitting((*strangers.free, *strangers.shut), wanted)
    if len(fits) > 1:
        raise Conflict(texts.which(fits, wanted))
    if fits:
        return fits[0]
    everything = await asyncio.to_thread(pool.transcripts.conversations)
    for one in _fitting(everything, wanted):
        if (owner := await pool.log.session_row(one.claude_id)) is not None:
            raise Conflict(texts.owned(owner.name))
    told = one_line(wanted, 40)
    raise NoSession(f"No conversation fits “{told}”. /adopt lists those there are.", ref=told)


def _fitting(conversations: tuple[Found, ...] | list[Found], wanted: str) -> list[Found]:
    key = " ".join(wanted.casefold().split())
    ids = [one for one in conversations if one.claude_id.casefold().startswith(key)]
    if ids and len(key) >= texts.SHORT_ID:
        return ids
    return [one for one in conversations if key in one.title.casefold()]
