"""Watching and counting."""

from __future__ import annotations

from collections.abc import Collection

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.commands import adopting, finding, replies
from claude_sessions.commands.pool import Pool, about, append
from claude_sessions.commands.turns import turns_of
from claude_sessions.errors import BadRequest
from claude_sessions.model import ENDINGS, Status
from claude_sessions.people import Caller
from claude_sessions.sessions.book import block_of
from claude_sessions.state import SessionState
from claude_sessions.storage.index import SessionRow

RESTING = frozenset(s for s in Status if not s.has_process) - ENDINGS


async def foreground(pool: Pool, command: c.Foreground, caller: Caller) -> c.Reply:
    """What came before this moment is in the reply; what comes after it is streamed."""
    channel = _channel(caller)
    state = await pool.manager.catch_up(await pool.book.find(command.session))
    watching = channel in state.foreground and not command.polled
    position = None if watching else state.bookmarks.get(channel)
    await append(pool, state, e.Foregrounded(channel=channel), caller)
    state = await pool.book.load(state.id)
    now = state.bookmarks[channel]
    missed = await _between(pool, state, position, now) if position is not None else ()
    last = await _between(pool, state, max(now - command.lines, 0), now)
    text = replies.foreground(state, missed, last, pool.clock.now())
    data = {"missed": list(missed), "lines": list(last)}
    return c.Reply(text=text, data=data, session=state.id)


async def _between(pool: Pool, state: SessionState, start: int, end: int) -> tuple[str, ...]:
    """Output blocks after `start` up to `end`, from the log where the buffer has turned over."""
    caught = pool.book.output(state.id).since(start)
    if not caught.before:
        return caught.blocks[: end - start]
    return (await _blocks_from_log(pool, state.id))[start:end]


async def _blocks_from_log(pool: Pool, session_id: str) -> tuple[str, ...]:
    """Every block there ever was: the buffer has turned over."""
    blocks: list[str] = []
    after = 0
    while page := await pool.log.events(session_id, after=after):
        blocks += [words for event in page if (words := block_of(event.payload)) is not None]
        after = page[-1].seq
    return tuple(blocks)


async def background(pool: Pool, command: c.Background, caller: Caller) -> c.Reply:
    channel = _channel(caller)
    if command.session is not None:
        states = [await pool.book.find(command.session)]
    else:
        states = [await pool.book.load(one) for one in pool.log.store.fronts(channel)]
    watched = [s for s in states if channel in s.foreground]
    for state in watched:
        seen = state.bookmarks[channel] if command.polled else pool.book.output(state.id).end
        left = e.Backgrounded(channel=channel, position=seen, polled=command.polled)
        await append(pool, state, left, caller)
    names = ", ".join(s.name for s in watched)
    text = f"In the background: {names}." if names else "Nothing was in the foreground here."
    return c.Reply(text=text, data={"sessions": [s.id for s in watched]})


async def output(pool: Pool, command: c.Output, caller: Caller) -> c.Reply:
    state = await pool.manager.catch_up(await pool.book.find(command.session))
    end = pool.book.output(state.id).end
    lines = await _between(pool, state, 0 if command.full else max(end - command.lines, 0), end)
    return about(replies.output(state, lines, pool.clock.now()), state, lines=lines)


async def list_sessions(pool: Pool, command: c.ListSessions, caller: Caller) -> c.Reply:
    wanted = [status for status in Status if command.status in ("all", status)]
    found = await _foremost(pool, wanted, command.origin)
    count = await pool.log.session_count(statuses=wanted, origin=command.origin)
    total = max(count, len(found))
    now, foremost = pool.clock.now(), replies.by_rank(found)[: replies.LISTED]
    narrow = ""
    if command.full:
        states = [await pool.book.load(one.id) for one in foremost]
        text = replies.full_listing(states, now, total=total)
    else:
        branches = await finding.branches(pool, [one.directory for one in foremost])
        text = replies.listing(found, now, total=total, branches=branches)
        narrow = replies.narrow_listing(found, now, total=total, branches=branches)
    data = {"sessions": [one.id for one in replies.by_rank(found)], "total": total}
    again = f"/sessions {command.status}" + (" --full" if command.full else "")
    actions = replies.session_actions(found)
    return c.Reply(text=text, narrow=narrow, data=data, actions=actions, again=again)


async def _foremost(
    pool: Pool, wanted: Collection[Status], origin: str | None
) -> list[SessionState | SessionRow]:
    """All that work or wait for somebody, and of the rest as many as a list may show.

    Each kind is asked for by itself: many that ended of late must not hide one that sleeps.
    """
    states = [
        state
        for state in pool.manager.live()
        if state.status in wanted and origin in (None, state.origin)
    ]
    resting: list[SessionRow] = []
    for kind in (RESTING, ENDINGS):
        statuses = kind.intersection(wanted)
        if statuses:
            resting += await pool.log.session_rows(
                statuses=statuses, origin=origin, limit=replies.LISTED
            )
    live = {state.id for state in states}
    return [*states, *(row for row in resting if row.id not in live)]


async def list_resumable(pool: Pool, command: c.ListResumable, caller: Caller) -> c.Reply:
    wanted = RESTING | ENDINGS
    rows = await pool.log.session_rows(statuses=wanted, identified=True, limit=replies.LISTED)
    total = await pool.log.session_count(statuses=wanted, identified=True)
    text = replies.resumable(rows, pool.clock.now(), total=total)
    data = {"sessions": [row.id for row in rows], "total": total}
    return await adopting.with_found(pool, c.Reply(text=text, data=data))


async def stats(pool: Pool, command: c.Stats, caller: Caller) -> c.Reply:
    sums = await pool.log.sums()
    metrics = replies.tally(sums, running=len(pool.manager.live()), zone=pool.zone)
    return c.Reply(text=replies.stats(metrics), data=replies.metrics_data(metrics))


async def list_turns(pool: Pool, command: c.ListTurns, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    prompts = [(n, turn.prompt) for n, turn in enumerate(await turns_of(pool, state.id), 1)]
    text, actions = replies.turns(state, prompts)
    return about(text, state, actions, turns=[prompt for _, prompt in prompts])


async def cost(pool: Pool, command: c.Cost, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    return about(replies.cost(state), state)


def _channel(caller: Caller) -> str:
    if caller.channel is None:
        raise BadRequest("There is no channel to watch from here: use /output instead.")
    return caller.channel
