"""The part of the log that a violation is about, to be read by a person."""

from __future__ import annotations

import re

from claude_sessions import events as e
from tests.chaos.evidence import Asked, Evidence, Life
from tests.chaos.story import WORD

LINES = 200
WIDTH = 220


def excerpt(evidence: Evidence, found: list[str]) -> list[str]:
    """The last events of the sessions that are named, or were told a word that is."""
    told = "\n".join(found)
    words = set(WORD.findall(told))
    concerned = {session for session in evidence.sessions() if re.search(rf"\b{session}\b", told)}
    concerned |= {event.session or "" for event in evidence.events if _has(words, event.payload)}
    events = [one for one in evidence.events if one.session is None or one.session in concerned]
    asked = [one for one in evidence.asked if words & set(WORD.findall(one.prompt))]
    return [*map(_event, events[-LINES:]), *map(_asked, asked), *map(_life, evidence.lives)]


def _has(words: set[str], payload: e.Payload) -> bool:
    return isinstance(payload, e.UserMessage) and bool(words & set(WORD.findall(payload.text)))


def _event(event: e.Event) -> str:
    told = f"{event.seq:5} {event.at:%H:%M:%S.%f} {event.session} {event.turn} {event.payload}"
    return told[:WIDTH]


def _asked(asked: Asked) -> str:
    return f"model {asked.conversation[:8]} {asked.answers} {asked.prompt} {asked.steered}"[:WIDTH]


def _life(life: Life) -> str:
    how = "killed" if life.killed else "stopped"
    return f"daemon {life.began:%H:%M:%S.%f} to {life.ended:%H:%M:%S.%f}, {how}"
