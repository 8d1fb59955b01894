"""What goes wrong on the way: connections lost, gateways down, answers that take too long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any

Where = Callable[[dict[str, Any]], bool]


class Drop(Enum):
    BEFORE = "dropped unprocessed"
    """The connection closes before Telegram has done anything."""
    AFTER = "processed, answer dropped"
    """Telegram has done it; the answer never arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    code: int
    retry_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    seconds: float
    processed: bool


Fault = Drop | Status | Hang


def status(code: int, retry_after: int | None = None) -> Status:
    return Status(code=code, retry_after=retry_after)


def hang(seconds: float, *, processed: bool = True) -> Hang:
    """Processed at once and answered late; or else held that long, then closed unprocessed."""
    return Hang(seconds=seconds, processed=processed)


@dataclass(slots=True, kw_only=True)
class Plan:
    method: str | None
    times: int | None
    how: Fault
    chat: int | None
    where: Where | None

    def meets(self, method: str, params: dict[str, Any]) -> bool:
        return (
            self.times != 0
            and self.method in (None, method)
            and self.chat in (None, params.get("chat_id"))
            and (self.where is None or self.where(params))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chaos:
    random: Random
    before: float
    after: float
    bad_gateway: float
    flood: float
    retry_after: int

    def strikes(self, *, floods: bool) -> Fault | None:
        at = self.random.random()
        for chance, fault in (
            (self.before, Drop.BEFORE),
            (self.after, Drop.AFTER),
            (self.bad_gateway, status(502)),
            (self.flood if floods else 0.0, status(429, retry_after=self.retry_after)),
        ):
            if at < chance:
                return fault
            at -= chance
        return None


class Faults:
    def __init__(self) -> None:
        self._plans: list[Plan] = []
        self._chaos: Chaos | None = None

    def plan(self, plan: Plan) -> None:
        self._plans.append(plan)

    def chaos(self, chaos: Chaos) -> None:
        self._chaos = chaos

    def calm(self) -> None:
        self._plans.clear()
        self._chaos = None

    def strikes(self, method: str, params: dict[str, Any], *, floods: bool) -> Fault | None:
        """Planned faults come first, in the order in which they were planned."""
        for plan in self._plans:
            if plan.meets(method, params):
                if plan.times is not None:
                    plan.times -= 1
                return plan.how
        return self._chaos.strikes(floods=floods) if self._chaos else None
