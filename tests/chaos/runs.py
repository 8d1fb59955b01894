"""Whether sessions, runs, turns and questions went the ways there are, and were counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from claude_sessions import events as e
from claude_sessions.model import ENDINGS
from claude_sessions.state import IllegalMove, SessionState, fold
from tests.chaos.evidence import Evidence


def states_fold(evidence: Evidence) -> Iterator[str]:
    for session, events in evidence.sessions().items():
        state: SessionState | None = None
        for event in events:
            try:
                state = fold(state, event)
            except IllegalMove as error:
                yield f"{session}: {event.type} at {event.seq} is impossible: {error}"
                break


def runs_end_once(evidence: Evidence) -> Iterator[str]:
    for session, events in evidence.sessions().items():
        runs = list(dict.fromkeys(event.run for event in events if event.run))
        endings = Counter(
            event.run for event in events if isinstance(event.payload, e.SessionEnded)
        )
        for run in runs:
            if endings[run] > 1:
                yield f"{session}: run {run} has ended {endings[run]} times"
            elif not endings[run] and run != runs[-1]:
                yield f"{session}: run {run} was followed by another and never ended"


def turns_end_once(evidence: Evidence) -> Iterator[str]:
    over = (e.TurnCompleted, e.TurnInterrupted)
    began = [ev for ev in evidence.events if isinstance(ev.payload, e.TurnStarted)]
    ended = Counter(ev.turn for ev in evidence.events if isinstance(ev.payload, over))
    for event in began:
        if ended[event.turn] != 1:
            yield f"{event.session}: turn {event.turn} has ended {ended[event.turn]} times"


def questions_are_settled_once(evidence: Evidence) -> Iterator[str]:
    payloads = [event.payload for event in evidence.events]
    settled = Counter(
        p.approval_id for p in payloads if isinstance(p, e.ApprovalResolved | e.InputReceived)
    )
    for payload in payloads:
        if isinstance(payload, e.ApprovalRequested | e.InputRequested):
            times = settled[payload.approval_id]
            if times != 1:
                yield f"approval {payload.approval_id} was settled {times} times"


def sums_agree(evidence: Evidence) -> Iterator[str]:
    payloads = [event.payload for event in evidence.events]
    endings = Counter(p.status.value for p in payloads if isinstance(p, e.SessionEnded))
    for status in ENDINGS:
        counted = evidence.counts.get(status.value, 0)
        if counted != endings[status.value]:
            yield f"{counted} runs are counted as {status}, the log has {endings[status.value]}"
