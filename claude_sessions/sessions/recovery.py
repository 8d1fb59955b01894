"""What the log says was running, and is not: its daemon was cut off.

Each such session falls asleep with what it had said, also with what only Claude's own file has of
it. What it was doing is not taken up again until a person says so.
"""

from __future__ import annotations

import asyncio

import structlog

from claude_sessions import events as e
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.eventlog import EventLog
from claude_sessions.model import AskKind, Reason, Status
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.transcript import given_back, size
from claude_sessions.state import Pending, SessionState, draft

log = structlog.get_logger()

WHY = "claude-sessions stopped without warning while it ran."


async def recover(events: EventLog, book: SessionBook, transcripts: Transcripts) -> None:
    for row in await events.session_rows(statuses=(Status.STARTING, Status.RUNNING)):
        state = await book.load(row.id)
        facts = [
            *map(_cancelled, state.pending),
            *await given_back(transcripts, state, also_taken=True),
        ]
        if state.turn is not None:
            facts += await _last_words(events, transcripts, state)
        facts.append(await _rest(transcripts, state))
        await events.append(*(draft(state, fact) for fact in facts))
        log.warning("session.abandoned", session=state.id, name=state.name)


async def _rest(transcripts: Transcripts, state: SessionState) -> e.Payload:
    length = await size(transcripts, state)
    if not state.spec.once:
        return e.SessionAsleep(reason=Reason.ABANDONED, transcript_bytes=length)
    lived = state.updated_at - state.run_started_at
    return e.SessionEnded(
        status=Status.FAILED,
        reason=Reason.ABANDONED,
        message=WHY,
        duration_ms=round(lived.total_seconds() * 1000),
        cost_usd=state.run_cost_usd,
        cost_unknown=state.turn is not None,
        transcript_bytes=length,
    )


async def _last_words(
    events: EventLog, transcripts: Transcripts, state: SessionState
) -> list[e.Payload]:
    """What the turn had said: beyond the log in Claude's file, and beyond that in our notes."""
    said = [
        event.payload
        for event in await events.tail_of(state.id, [e.AssistantMessage.TYPE], 1000)
        if event.turn == state.turn
    ]
    logged = [p for p in said if isinstance(p, e.AssistantMessage) and not p.parent_tool_use_id]
    blocks = (await _in_file(events, transcripts, state))[len(logged) :]
    facts: list[e.Payload] = [e.AssistantMessage(text=block) for block in blocks]
    noted = await asyncio.to_thread(events.store.draft, state.id)
    partial = ""
    if noted is not None and not any(p.block == noted[0] for p in logged):
        block, text = noted
        if not any(whole.startswith(text) for whole in blocks):
            facts.append(e.AssistantMessage(text=text, block=block))
            partial = text
    return [*facts, e.TurnInterrupted(reason=Reason.ABANDONED, partial_text=partial)]


async def _in_file(
    events: EventLog, transcripts: Transcripts, state: SessionState
) -> tuple[str, ...]:
    began = await events.tail_of(state.id, [e.TurnStarted.TYPE], 1)
    match [event.payload for event in began]:
        case [e.TurnStarted(message_ids=(first, *_))] if state.claude_id is not None:
            return await asyncio.to_thread(transcripts.answer_after, state.claude_id, first)
    return ()


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
