"""How much may be said where, and when: Telegram's limits, with a little to spare. Pure.

Sends, edits, deletes and typing share what a chat may get. A private chat gets one a second, with
a small burst; a group twenty a minute, all its topics together; all chats thirty a second. What
only shows progress leaves something over for what matters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

BURST = 3.0  # private
PER_SECOND = 0.97
SPARED = 1.0  # of the burst, for what matters
GROUP = 20
GROUP_SECONDS = 61.0  # a minute as they count it may begin a little later than ours
GROUP_PROGRESS = 14
GROUP_PACE = 3.5  # seconds between two that only show progress
ALL = 28
ALL_SECONDS = 1.05


@dataclass(slots=True)
class Purse:
    """Of one chat."""

    tokens: float = BURST
    at: float = 0.0
    spent: deque[float] = field(default_factory=deque)  # when; groups
    blocked_until: float = 0.0


class Budget:
    """All times are of one monotonic clock."""

    def __init__(self) -> None:
        self._purses: dict[int, Purse] = {}
        self._under_way = 0
        self._all: deque[float] = deque()  # when they had arrived

    def wait(self, chat: int, now: float, *, matters: bool) -> float:
        """How many seconds until something may be sent there; 0: now."""
        purse = self._purses.get(chat)
        if purse is None:
            return self._wait_for_all(now)
        blocked = purse.blocked_until - now
        own = _private_wait(purse, now, matters) if chat > 0 else _group_wait(purse, now, matters)
        return max(blocked, own, self._wait_for_all(now), 0.0)

    @contextmanager
    def spending(self, chat: int, clock: Callable[[], float]) -> Iterator[None]:
        """Around one request: when it arrives is not known before its answer is here."""
        self._spend(chat, clock())
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._all.append(clock())

    def _spend(self, chat: int, now: float) -> None:
        purse = self._purses.setdefault(chat, Purse(at=now))
        if chat > 0:
            purse.tokens, purse.at = _tokens(purse, now) - 1, now
        else:
            purse.spent.append(now)

    def block(self, chat: int, now: float, seconds: float) -> None:
        """Telegram said so: to the second, whatever it is."""
        purse = self._purses.setdefault(chat, Purse(at=now))
        purse.blocked_until = max(purse.blocked_until, now + seconds)

    def room(self, chat: int, now: float) -> int:
        """How many messages may be sent there at once."""
        purse = self._purses.get(chat, Purse(at=now))
        if purse.blocked_until > now:
            return 0
        if chat > 0:
            return max(int(_tokens(purse, now)), 0)
        _expire(purse.spent, now, GROUP_SECONDS)
        return GROUP - len(purse.spent)

    def left(self, chat: int, now: float) -> str:
        """For people."""
        purse = self._purses.get(chat, Purse(at=now))
        if purse.blocked_until > now:
            return f"nothing for {purse.blocked_until - now:.0f} s"
        room = self.room(chat, now)
        if chat > 0:
            return f"{room} of {BURST:.0f} now, 1 a second"
        return f"{room} of {GROUP} this minute"

    def _wait_for_all(self, now: float) -> float:
        _expire(self._all, now, ALL_SECONDS)
        room = ALL - self._under_way
        if room <= 0:
            return ALL_SECONDS  # one that arrives meanwhile counts for as long from then on
        return self._all[-room] + ALL_SECONDS - now if len(self._all) >= room else 0.0


def _private_wait(purse: Purse, now: float, matters: bool) -> float:
    needed = 1.0 if matters else 1.0 + SPARED
    return (needed - _tokens(purse, now)) / PER_SECOND


def _tokens(purse: Purse, now: float) -> float:
    return min(purse.tokens + (now - purse.at) * PER_SECOND, BURST)


def _group_wait(purse: Purse, now: float, matters: bool) -> float:
    spent = purse.spent
    _expire(spent, now, GROUP_SECONDS)
    allowed = GROUP if matters else GROUP_PROGRESS
    room = spent[-allowed] + GROUP_SECONDS - now if len(spent) >= allowed else 0.0
    pace = spent[-1] + GROUP_PACE - now if spent and not matters else 0.0
    return max(room, pace)


def _expire(times: deque[float], now: float, seconds: float) -> None:
    while times and times[0] <= now - seconds:
        times.popleft()
