"""What is known after a round, from everybody who took part: the material of the checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from claude_sessions import events as e


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request that came to the model."""

    conversation: str
    prompt: str
    steered: tuple[str, ...] = ()
    answers: int = 0  # that this turn has had already
    length: int = 0  # of the conversation: the CLI that tries again sends the same
    finished: bool = True  # the answer went out in full


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One daemon, from its channel's first moment to its end."""

    head: int  # the last event before
    began: datetime
    ended: datetime
    killed: bool
    shown: frozenset[tuple[str, str]] = frozenset()  # session, whole block
    told: Sequence[tuple[str, str]] = ()  # session, kind of message, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUp:
    """What `/fg` said had been missed."""

    session: str
    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    events: Sequence[e.Event]
    accepted: Sequence[str] = ()  # words whose command was answered
    asked: Sequence[Asked] = ()
    lives: Sequence[Life] = ()
    caught_up: Sequence[CatchUp] = ()
    read: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # session → /output --full
    written: Sequence[str] = ()  # Claude's words in its own files
    kept: Collection[str] = ()  # messages that those files have
    counts: Mapping[str, int] = field(default_factory=dict)  # the sums of the store
    left: Sequence[str] = ()  # processes, and what the ledger still has
    mishaps: Sequence[str] = ()  # what the daemons logged as errors

    def sessions(self) -> dict[str, list[e.Event]]:
        found: dict[str, list[e.Event]] = {}
        for event in self.events:
            if event.session is not None:
                found.setdefault(event.session, []).append(event)
        return found
