"""How late we hear: by Telegram's clock, for ours may be wrong, and may have slept meanwhile."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta

from claude_sessions.clock import Clock

CAUGHT_UP_SECONDS = 60.0  # longer than a poll that is answered
SKEWS = 3  # an answer that lay about while the machine slept does not tell the time


class Lag:
    """`behind`: what comes now may have waited for who knows how long."""

    def __init__(self, clock: Clock) -> None:
        self.behind = True
        self._clock = clock
        self._caught_up: datetime | None = None  # when nothing was left to be told
        self._skews: deque[timedelta] = deque(maxlen=SKEWS)

    def polled(self, answered: datetime | None, *, everything: bool) -> None:
        """An answer has come: `answered` is when, by Telegram's clock."""
        now = self._clock.now()
        self.behind = self.may_be_behind()
        if everything:
            self._caught_up = now
        if answered is not None:
            self._skews.append(answered - now)

    def may_be_behind(self) -> bool:
        if self._caught_up is None:
            return True
        return (self._clock.now() - self._caught_up).total_seconds() > CAUGHT_UP_SECONDS

    def of(self, said: datetime) -> float:
        """Seconds; what comes from the future is no later than what comes at once."""
        skew = max(self._skews, default=timedelta())  # an answer is never from after its arrival
        return max((self._clock.now() + skew - said).total_seconds(), 0.0)
