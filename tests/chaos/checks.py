"""Whether anything was lost: pure functions from the evidence to sentences, one a violation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta

from claude_sessions import events as e
from claude_sessions.model import ENDINGS
from claude_sessions.sessions.book import block_of
from claude_sessions.state import IllegalMove, SessionState, fold
from tests.chaos import messages
from tests.chaos.evidence import Evidence, Life
from tests.chaos.host import CHANNEL
from tests.chaos.story import answer, word_in

MOMENT = timedelta(seconds=1)  # before a kill: what was logged then may not be out yet


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


def nothing_is_left(evidence: Evidence) -> Iterator[str]:
    for one in evidence.left:
        yield f"left: {one}"


def nobody_was_at_a_terminal(evidence: Evidence) -> Iterator[str]:
    """Our own words, met again in Claude's file, must not pass for somebody else's."""
    for event in evidence.events:
        if isinstance(event.payload, e.TerminalMessage):
            yield f"{event.session}: “{event.payload.text}” is said to come from a terminal"


def answers_are_logged(evidence: Evidence) -> Iterator[str]:
    """What the model said in full in a turn that was completed, and all that Claude wrote down."""
    logged = {words for event in evidence.events if (words := block_of(event.payload)) is not None}
    completed = messages.completed_words(evidence)
    for asked in evidence.asked:
        word = word_in(asked.prompt)
        said = answer(word, asked.answers)
        if word in completed and asked.finished and said not in logged:
            yield f"the model finished “{said}”, which is not in the log"
    for block in evidence.written:
        if block not in logged:
            yield f"“{block[:80]}” is in Claude's file and not in the log"


def blocks_can_be_read(evidence: Evidence) -> Iterator[str]:
    for session, events in evidence.sessions().items():
        blocks = tuple(w for event in events if (w := block_of(event.payload)) is not None)
        if evidence.read.get(session) != blocks:
            read = len(evidence.read.get(session, ()))
            yield f"{session}: /output --full gave {read} blocks, the log has {len(blocks)}"


def watchers_saw_it(evidence: Evidence) -> Iterator[str]:
    """Each block that came while the channel had the session in front, unless killed just then."""
    for session, events in evidence.sessions().items():
        state: SessionState | None = None
        for event in events:
            words = block_of(event.payload)
            if words is not None and state is not None and CHANNEL in state.foreground:
                life = next((one for one in evidence.lives if _within(one, event)), None)
                if life is not None and (session, words) not in life.shown:
                    yield f"{session}: “{words[:80]}” ({event.seq}) was not delivered"
            state = _folded(state, event)


def _within(life: Life, event: e.Event) -> bool:
    ended = life.ended - MOMENT if life.killed else life.ended
    return life.head < event.seq and life.began <= event.at <= ended


def catching_up_is_exact(evidence: Evidence) -> Iterator[str]:
    """Each `/fg` that was answered gave what came since the channel looked away, and no more."""
    expected = {session: list(_missed(events)) for session, events in evidence.sessions().items()}
    for given in evidence.caught_up:
        if given.missed not in expected.get(given.session, []):
            yield f"{given.session}: /fg gave {given.missed}, which was never missed"


def _missed(events: list[e.Event]) -> Iterator[tuple[str, ...]]:
    state: SessionState | None = None
    blocks: list[str] = []
    for event in events:
        if isinstance(event.payload, e.Foregrounded) and state is not None:
            watching = CHANNEL in state.foreground
            seen = None if watching else state.bookmarks.get(CHANNEL)
            yield tuple(blocks[seen:]) if seen is not None else ()
        if (words := block_of(event.payload)) is not None:
            blocks.append(words)
        state = _folded(state, event)


def _folded(state: SessionState | None, event: e.Event) -> SessionState | None:
    try:
        return fold(state, event)
    except IllegalMove:  # told by `states_fold`
        return state


CHECKS: tuple[Callable[[Evidence], Iterator[str]], ...] = (
    messages.accepted_are_logged,
    messages.reached_once,
    messages.sent_again_only_when_returned,
    messages.none_is_lost,
    states_fold,
    runs_end_once,
    turns_end_once,
    questions_are_settled_once,
    sums_agree,
    answers_are_logged,
    blocks_can_be_read,
    watchers_saw_it,
    catching_up_is_exact,
    nobody_was_at_a_terminal,
    nothing_is_left,
)


def violations(evidence: Evidence) -> list[str]:
    return [f"{check.__name__}: {told}" for check in CHECKS for told in check(evidence)]
