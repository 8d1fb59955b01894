"""What became of Claude's words: kept, readable, and delivered to whoever watched.

The one channel of a round is also where every session was launched from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from claude_sessions import events as e
from claude_sessions.channel import Kind
from claude_sessions.model import Reason
from claude_sessions.sessions.book import block_of
from claude_sessions.state import SessionState, absorb
from tests.chaos import messages
from tests.chaos.evidence import Evidence, Life
from tests.chaos.host import CHANNEL
from tests.chaos.story import answer, word_in

MOMENT = timedelta(seconds=1)  # before a kill: what was logged then may not be out yet


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
            state = absorb(state, event)


def endings_are_told(evidence: Evidence) -> Iterator[str]:
    """Each time a run ended or a turn was over: as often as there was something to say."""
    for life in evidence.lives:
        told = Counter(life.told)
        due = Counter(_due(evidence, life))
        for (session, kind), times in due.items():
            if told[session, kind] < times:
                yield f"{session}: {kind} was due {times} times, told {told[session, kind]} times"


def _due(evidence: Evidence, life: Life) -> Iterator[tuple[str, str]]:
    for session, events in evidence.sessions().items():
        state: SessionState | None = None
        for event in events:
            state = absorb(state, event)
            if state is None or not _within(life, event):
                continue
            match event.payload:
                case e.SessionEnded(status=status):
                    yield session, status.value
                case e.TurnCompleted(is_error=False) if CHANNEL in state.foreground:
                    yield session, Kind.WAITING.value
                case e.TurnCompleted(is_error=False) if not state.queue:
                    yield session, Kind.WAITING.value


def what_was_cut_off_is_told(evidence: Evidence) -> Iterator[str]:
    """By the next daemon whose channel is heard, before anything else."""
    for session, events in evidence.sessions().items():
        open_since = None
        for event in events:
            match event.payload:
                case e.TurnInterrupted(reason=Reason.ABANDONED):
                    open_since = event.seq
                case e.SessionReported():
                    open_since = None
        if open_since is not None:
            yield f"{session}: nobody was told of the turn that was cut off at {open_since}"


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
        state = absorb(state, event)
