"""Numbers instead of buttons. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from claude_sessions.channel import Action

REMEMBERED = 50


@dataclass(slots=True, kw_only=True)
class Offer:
    """Actions under numbers. A decision stays until it is taken, the rest until the next offer."""

    key: str
    first: int
    actions: tuple[Action, ...]
    decision: bool
    opened: int
    closed: int | None = None

    def action(self, number: int) -> Action | None:
        place = number - self.first
        return self.actions[place] if 0 <= place < len(self.actions) else None

    def was_open(self, at: int) -> bool:
        return self.opened <= at and (self.closed is None or self.closed > at)


class Choices:
    """A number means what it meant on the screen when the person began to type it.

    So a card that comes up meanwhile is never decided by mistake. The numbers of a decision that
    is open are not given to another.
    """

    def __init__(self) -> None:
        self._offers: list[Offer] = []
        self._stamp = 0

    @property
    def stamp(self) -> int:
        """Grows with each change; what `find` is told as `seen`."""
        return self._stamp

    def offer(self, key: str, actions: Sequence[Action], *, decision: bool) -> Offer:
        self._stamp += 1
        for offer in self._offers:
            if offer.closed is None and not offer.decision:
                offer.closed = self._stamp
        taken = [o.first + len(o.actions) for o in self._offers if o.closed is None]
        offer = Offer(
            key=key,
            first=max(taken, default=1),
            actions=tuple(actions),
            decision=decision,
            opened=self._stamp,
        )
        self._offers = [*self._offers[-REMEMBERED:], offer]
        return offer

    def close(self, key: str) -> None:
        self._stamp += 1
        for offer in self._offers:
            if offer.key == key and offer.closed is None:
                offer.closed = self._stamp

    def find(self, number: int, *, seen: int) -> Offer | None:
        """The newest offer with that number of those that were open then."""
        found = [o for o in self._offers if o.was_open(seen) and o.action(number) is not None]
        return found[-1] if found else None
