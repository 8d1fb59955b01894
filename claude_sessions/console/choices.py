"""Numbers instead of buttons. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from claude_sessions.channel import Action

REMEMBERED = 50


@dataclass(slots=True, kw_only=True)
class Offer:
    """Actions under numbers. A decision stays open until it is taken; others until the next offer."""

    key: str
    first: int
    actions: tuple[Action, ...]
    decision: bool
    stamp: int
    open: bool = True

    def action(self, number: int) -> Action | None:
        place = number - self.first
        return self.actions[place] if 0 <= place < len(self.actions) else None


class Choices:
    """A number means what it meant on the screen when the person began to type it: an offer that
    came later is not what they chose. Numbers of open decisions are never given to another.
    """

    def __init__(self) -> None:
        self._offers: list[Offer] = []
        self._stamp = 0

    @property
    def stamp(self) -> int:
        """How much has been offered so far."""
        return self._stamp

    def offer(self, key: str, actions: Sequence[Action], *, decision: bool) -> Offer:
        self._stamp += 1
        for offer in self._offers:
            offer.open = offer.open and offer.decision
        taken = [o.first + len(o.actions) for o in self._offers if o.open]
        offer = Offer(
            key=key,
            first=max(taken, default=1),
            actions=tuple(actions),
            decision=decision,
            stamp=self._stamp,
        )
        self._offers = [*self._offers[-REMEMBERED:], offer]
        return offer

    def close(self, key: str) -> None:
        for offer in self._offers:
            offer.open = offer.open and offer.key != key

    def find(self, number: int, *, seen: int) -> Offer | None:
        """The newest offer under that number among those offered by `seen`; it may be closed."""
        known = [o for o in self._offers if o.stamp <= seen and o.action(number) is not None]
        open_ones = [o for o in known if o.open]
        newest = known[-1:] if not open_ones or known[-1].decision else open_ones[-1:]
        return newest[0] if newest else None
