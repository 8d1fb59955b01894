"""The part of the log that a violation is about, to be read by a person."""

from __future__ import annotations

import re

from claude_sessions import events as e
from tests.chaos.evidence import Evidence
from tests.chaos.story import WORD

LINES = 200


def excerpt(evidence: Evidence, found: list[str]) -> list[str]:
    """All events of the sessions that are named, or that were told a word that is."""
    text = "\n".join(found)
    words = set(WORD.findall(text))
    concerned = {session for session in evidence.sessions() if re.search(rf"\b{session}\b", text)}
    concerned |= {
        event.session
        for event in evidence.events
        if isinstance(event.payload, e.UserMessage)
        and words & set(WORD.findall(event.payload.text))
    }
    events = [one for one in evidence.events if one.session is None or one.session in concerned]
    heard = [
        f"model: {asked}"
        for asked in evidence.asked
        if words & set(WORD.findall(f"{asked.prompt} {asked.steered}"))
    ]
    return [
        *map(_line, events[-LINES:]),
        *heard,
        *(f"life: {_life(n, evidence)}" for n in range(len(evidence.lives))),
    ]


def _line(event: e.Event) -> str:
    told = str(event.payload)
    return f"{event.seq:5} {event.at:%H:%M:%S.%f} {event.session} {event.turn} {told[:220]}"


def _life(n: int, evidence: Evidence) -> str:
    life = evidence.lives[n]
    return f"{life.began:%H:%M:%S.%f} to {life.ended:%H:%M:%S.%f} killed={life.killed}"
