"""A run was written down, then the daemon died: did its session begin?"""

from __future__ import annotations

from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.schedules.book import Schedule


async def session_of(log: EventLog, schedule: Schedule) -> str | None:
    """The session that its last run launched, by the log."""
    after = schedule.last_seq
    while page := await log.events(after=after):
        for event in page:
            if _is_from(schedule, event):
                return event.session
        after = page[-1].seq
    return None


def _is_from(schedule: Schedule, event: e.Event) -> bool:
    born = event.payload
    return (
        isinstance(born, e.SessionCreated)
        and event.caller == str(schedule.caller())
        and (born.prompt, born.directory) == (schedule.prompt, schedule.directory)
    )
