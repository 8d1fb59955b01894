"""What was asked of a session and not answered, to be asked again in another place."""

from __future__ import annotations

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.sessions.beginnings import new_message
from claude_sessions.state import SessionState

RECENT = 50


async def unanswered(
    log: EventLog, before: SessionState, after: SessionState
) -> list[e.UserMessage]:
    """Asked right after a kill, which met it as `before`. Gives what is to be said again.

    A turn that has shown nothing yet is asked for again, one that has is told to continue. What
    was still queued, or is again, stays so by itself.
    """
    cut = await log.tail_of(before.id, [e.TurnInterrupted.TYPE], 1)
    turns = {event.turn for event in cut if event.seq > before.last_seq}
    lost: set[str] = set()
    again: list[e.UserMessage] = []
    if turns and await _has_shown(log, before.id, turns):
        again.append(new_message(c.DEFAULT_RESUME_PROMPT, (), front=True))
    else:
        for event in await log.tail_of(before.id, [e.TurnStarted.TYPE], 1):
            if event.turn in turns and isinstance(event.payload, e.TurnStarted):
                lost.update(event.payload.message_ids)
    lost -= {message.id for message in after.queued}
    for event in await log.tail_of(before.id, [e.UserMessage.TYPE], RECENT):
        if isinstance(event.payload, e.UserMessage) and event.payload.message_id in lost:
            said = event.payload
            again.append(new_message(said.text, said.attachments, front=True))
    return again[::-1]  # each goes to the front of the queue


async def _has_shown(log: EventLog, session: str, turns: set[str | None]) -> bool:
    shown = await log.tail_of(session, [e.AssistantMessage.TYPE, e.ToolRequested.TYPE], 1)
    return any(event.turn in turns for event in shown)
