"""The first word of a daemon: what the end of the one before it cut off, told once in each chat."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial

from claude_sessions import __version__, wording
from claude_sessions import events as e
from claude_sessions.channel import Kind, Notification
from claude_sessions.eventlog import EventLog
from claude_sessions.origins import UNKNOWN
from claude_sessions.router import NotificationRouter
from claude_sessions.sessions.book import BLOCKS, SessionBook, block_of
from claude_sessions.state import SessionState, draft

LOOKED_AT = 200  # messages and blocks


async def tell_what_was_cut_off(
    log: EventLog, book: SessionBook, router: NotificationRouter, before: e.Event | None
) -> None:
    """`before`: the last event of the daemon before this one."""
    await log.append(e.Draft(payload=e.RunnerStarted(version=__version__)))
    told: defaultdict[str | None, list[SessionState]] = defaultdict(list)
    for row in log.store.news():
        state = await book.load(row.id)
        worth = state.cut_off is not None or state.queued or state.status.ended
        heard = worth and (state.origin != UNKNOWN or router.reaches(UNKNOWN))
        told[state.origin if heard else None].append(state)
    await _reported(log, told.pop(None, []))
    for origin, states in told.items():
        assert origin is not None
        turns = {state.id: await _last_turn(log, state) for state in states}
        router.greet(origin, _greeting(before, states, turns), partial(_reported, log, states))


async def _reported(log: EventLog, states: list[SessionState]) -> None:
    await log.append(*(draft(state, e.SessionReported()) for state in states))


async def _last_turn(log: EventLog, state: SessionState) -> wording.LastTurn:
    """What was said in the turns before it is no news."""
    for began in await log.tail_of(state.id, [e.TurnStarted.TYPE], 1):
        recent = await log.tail_of(state.id, [*BLOCKS, e.UserMessage.TYPE], LOOKED_AT)
        blocks = [block_of(event.payload) for event in recent if event.turn == began.turn]
        said = [words for words in blocks if words is not None]
        return wording.LastTurn(asked=_asked(recent, began.payload), said="".join(said[-1:]))
    return wording.LastTurn()


def _asked(recent: list[e.Event], began: e.Payload) -> str:
    first = began.message_ids[:1] if isinstance(began, e.TurnStarted) else ()
    payloads = (event.payload for event in recent)
    texts = (p.text for p in payloads if isinstance(p, e.UserMessage) and p.message_id in first)
    return next(texts, "")


def _greeting(
    before: e.Event | None, states: list[SessionState], turns: Mapping[str, wording.LastTurn]
) -> Notification:
    clean = before is None or isinstance(before.payload, e.RunnerStopped)
    return Notification(
        kind=Kind.NOTICE,
        session=None,
        name="",
        text=wording.homecoming(states, turns, stopped=before.at if before else None, clean=clean),
        foreground=False,
        actions=wording.homecoming_actions(states),
    )
