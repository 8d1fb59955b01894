"""What the log says was running, and is not: its daemon died."""

from __future__ import annotations

import structlog

from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.model import AskKind, Reason, Status
from claude_sessions.sessions.book import SessionBook
from claude_sessions.state import Pending, SessionState, draft

log = structlog.get_logger()

WHY = "claude-sessions stopped without warning while it ran."


async def name_the_abandoned(events: EventLog, book: SessionBook) -> list[SessionState]:
    """Give each run the ending it never had; the session can be resumed."""
    named = []
    for row in await events.session_rows(statuses=(Status.STARTING, Status.RUNNING)):
        state = await book.load(row.id)
        await events.append(*(draft(state, fact) for fact in _ending(state)))
        log.warning("session.abandoned", session=state.id, name=state.name)
        named.append(state)
    return named


def _ending(state: SessionState) -> list[e.Payload]:
    facts: list[e.Payload] = [_cancelled(pending) for pending in state.pending]
    if state.turn is not None:
        facts.append(e.TurnInterrupted(reason=Reason.ABANDONED))
    lived = state.updated_at - state.run_started_at
    ending = e.SessionEnded(
        status=Status.FAILED,
        reason=Reason.ABANDONED,
        message=WHY,
        duration_ms=round(lived.total_seconds() * 1000),
        cost_usd=state.run_cost_usd,
        cost_unknown=state.turn is not None,
    )
    return [*facts, ending]


def _cancelled(pending: Pending) -> e.Payload:
    if pending.kind is AskKind.QUESTION:
        return e.InputReceived(
            approval_id=pending.id,
            tool_use_id=pending.tool_use_id,
            answers={},
            decision="cancelled",
            reason=WHY,
        )
    return e.ApprovalResolved(
        approval_id=pending.id,
        tool_use_id=pending.tool_use_id,
        tool_name=pending.tool_name,
        decision="cancelled",
        reason=WHY,
    )
