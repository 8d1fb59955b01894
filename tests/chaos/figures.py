"""What happened, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields

from claude_sessions import events as e
from tests.chaos.evidence import Evidence


@dataclass(slots=True, kw_only=True)
class Figures:
    rounds: int = 0
    actions: int = 0
    accepted: int = 0
    requests: int = 0
    events: int = 0
    runs: int = 0
    turns: int = 0
    interrupted: int = 0
    returned: int = 0
    daemons_killed: int = 0
    clis_killed: int = 0
    stops: int = 0
    violations: int = 0

    def count(self, evidence: Evidence) -> None:
        payloads = [event.payload for event in evidence.events]
        self.requests += len(evidence.asked)
        self.events += len(payloads)
        self.runs += sum(isinstance(p, e.SessionCreated | e.SessionResumed) for p in payloads)
        self.turns += sum(isinstance(p, e.TurnStarted) for p in payloads)
        self.interrupted += sum(isinstance(p, e.TurnInterrupted) for p in payloads)
        self.returned += sum(isinstance(p, e.MessageReturned) for p in payloads)

    def add(self, other: Figures) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def lines(self) -> list[str]:
        told = [(one.name.replace("_", " "), getattr(self, one.name)) for one in fields(self)]
        return [f"{name:15} {value:>8,}" for name, value in told]
