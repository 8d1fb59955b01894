"""The first word of a daemon: what the end of the one before it cut off, told once in each chat."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from claude_sessions import __version__, wording
from claude_sessions import events as e
from claude_sessions.channel import Kind, Notification
from claude_sessions.eventlog import EventLog
from claude_sessions.origins import UNKNOWN
from claude_sessions.router import NotificationRouter
from claude_sessions.sessions.book import SessionBook
from claude_sessions.state import SessionState, draft


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
        router.greet(origin, _greeting(before, states, book), partial(_reported, log, states))


async def _reported(log: EventLog, states: list[SessionState]) -> None:
    await log.append(*(draft(state, e.SessionReported()) for state in states))


def _greeting(
    before: e.Event | None, states: list[SessionState], book: SessionBook
) -> Notification:
    said = {state.id: "\n".join(book.output(state.id).last(1)) for state in states}
    clean = before is None or isinstance(before.payload, e.RunnerStopped)
    return Notification(
        kind=Kind.NOTICE,
        session=None,
        name="",
        text=wording.homecoming(states, said, stopped=before.at if before else None, clean=clean),
        foreground=False,
        actions=wording.homecoming_actions(states),
    )
