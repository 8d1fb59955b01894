"""What became of each message: found by its word in the log and in the model's own record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from enum import Enum
from itertools import pairwise

from claude_sessions import events as e
from claude_sessions.state import SessionState, absorb
from tests.chaos.evidence import Evidence
from tests.chaos.story import WORD, word_in

OVER = (e.TurnCompleted, e.TurnInterrupted)


def accepted_are_logged(evidence: Evidence) -> Iterator[str]:
    logged = {word_in(p.text) for p in _payloads(evidence) if isinstance(p, e.UserMessage)}
    for word in evidence.accepted:
        if word not in logged:
            yield f"{word} was accepted and is not in the log"


def reached_once(evidence: Evidence) -> Iterator[str]:
    """More often only after an interruption that people were told of, each time."""
    sendings = _sendings(evidence)
    for word, times in arrivals(evidence).items():
        sent = sendings[word]
        if times > len(sent):
            yield f"{word} reached the model {times} times and was sent {len(sent)} times"
        for earlier, later in pairwise(sent):
            if times > 1 and not _told_between(evidence, earlier, later):
                yield f"{word} reached the model {times} times; nobody was told in between"


def sent_again_only_when_returned(evidence: Evidence) -> Iterator[str]:
    given: set[str] = set()
    for payload in _payloads(evidence):
        match payload:
            case e.MessageSent(message_id=message) if message in given:
                yield f"message {message} was sent again while Claude may have had it"
            case e.MessageSent(message_id=message):
                given.add(message)
            case e.MessageReturned(message_id=message):
                given.discard(message)


def none_is_lost(evidence: Evidence) -> Iterator[str]:
    """It was answered; or it was cut off, and Claude knows it; or it can still be said."""
    reached = arrivals(evidence)
    for session, events in evidence.sessions().items():
        state = _last(events)
        for message in (event.payload for event in events):
            if not isinstance(message, e.UserMessage) or not (word := word_in(message.text)):
                continue
            match _fate(message.message_id, events, state):
                case Fate.QUEUED if not state.status.ended:
                    yield f"{session}: {word} is still queued, and the session is {state.status}"
                case Fate.ANSWERED if not reached[word]:
                    yield f"{session}: {word} never reached the model, and nobody was told"
                case Fate.CUT_OFF if message.message_id not in evidence.kept:
                    yield f"{session}: {word} was cut off, and Claude's file does not have it"
                case Fate.UNKNOWN:
                    yield f"{session}: {word} is nowhere"


def _last(events: list[e.Event]) -> SessionState:
    state: SessionState | None = None
    for event in events:
        state = absorb(state, event)
    assert state is not None
    return state


class Fate(Enum):
    QUEUED = "it waits to be said"
    WITHDRAWN = "somebody took it back"
    ANSWERED = "its turn was completed"
    CUT_OFF = "its turn was not, and people were told"
    UNKNOWN = "the log does not say"


def _fate(message: str, events: list[e.Event], state: SessionState) -> Fate:
    if any(queued.id == message for queued in state.queue):
        return Fate.QUEUED
    if any(event.payload == e.MessageWithdrawn(message_id=message) for event in events):
        return Fate.WITHDRAWN
    turns = [event.turn for event in events if message in _messages_of(event.payload)]
    endings = [
        _is_told(event.payload)
        for event in events
        if turns and event.turn == turns[-1] and isinstance(event.payload, OVER)
    ]
    if not endings:
        return Fate.UNKNOWN
    return Fate.CUT_OFF if endings[-1] else Fate.ANSWERED


def _messages_of(payload: e.Payload) -> tuple[str, ...]:
    match payload:
        case e.MessageSent(message_id=message) | e.MessageConsumed(message_id=message):
            return (message,)
        case e.TurnStarted(message_ids=messages):
            return messages
    return ()


def _is_told(payload: e.Payload) -> bool:
    """People hear that the turn did not come to its end."""
    return isinstance(payload, e.TurnInterrupted) or (
        isinstance(payload, e.TurnCompleted) and payload.is_error
    )


def completed_words(evidence: Evidence) -> set[str]:
    """Those whose every turn came to its end."""
    words, turns = _words(evidence), defaultdict[str, list[bool]](list)
    fine = {
        event.turn
        for event in evidence.events
        if isinstance(event.payload, e.TurnCompleted) and not event.payload.is_error
    }
    for event in evidence.events:
        if isinstance(event.payload, e.TurnStarted):
            for message in event.payload.message_ids:
                turns[words.get(message, "")].append(event.turn in fine)
    return {word for word, ends in turns.items() if word and all(ends)}


def arrivals(evidence: Evidence) -> Counter[str]:
    """How often each word began a turn, or came into one; a try again is no second time."""
    begun = {
        (word, asked.conversation, asked.length)
        for asked in evidence.asked
        for word in WORD.findall(asked.prompt)  # the CLI makes one turn of several that wait
        if asked.answers == 0
    }
    found = Counter(word for word, _, _ in begun)
    steered = {word_in(text) for asked in evidence.asked for text in asked.steered} - {""}
    for word in steered:
        found[word] = max(found[word], 1)
    return found


def _words(evidence: Evidence) -> dict[str, str]:
    """Of each message."""
    payloads = _payloads(evidence)
    return {p.message_id: word_in(p.text) for p in payloads if isinstance(p, e.UserMessage)}


def _sendings(evidence: Evidence) -> defaultdict[str, list[e.Event]]:
    words, found = _words(evidence), defaultdict[str, list[e.Event]](list)
    for event in evidence.events:
        if isinstance(event.payload, e.MessageSent):
            found[words.get(event.payload.message_id, "")].append(event)
    return found


def _told_between(evidence: Evidence, earlier: e.Event, later: e.Event) -> bool:
    between = [event for event in evidence.events if earlier.seq < event.seq < later.seq]
    return any(event.session == later.session and _is_told(event.payload) for event in between)


def _payloads(evidence: Evidence) -> list[e.Payload]:
    return [event.payload for event in evidence.events]
