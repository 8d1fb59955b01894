"""How often each may ask: a bucket for everyone that fills as time goes by."""

from __future__ import annotations

from collections import OrderedDict

from claude_sessions.clock import Clock

BURST_SECONDS = 2.0
REMEMBERED = 1000


class Rates:
    def __init__(self, clock: Clock, per_second: float | None) -> None:
        self._clock = clock
        self._per_second = per_second
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # left, when

    def wait(self, who: str) -> float:
        """0: now. Else how many seconds until the next."""
        if self._per_second is None:
            return 0.0
        left = self._left(who, self._per_second)
        wait = 0.0 if left >= 1.0 else (1.0 - left) / self._per_second
        self._keep(who, left if wait else left - 1.0)
        return wait

    def charge(self, who: str, more: int) -> None:
        """What one request asked for beside itself: it is done, and the next ones wait for it."""
        if self._per_second is not None:
            self._keep(who, self._left(who, self._per_second) - more)

    def _left(self, who: str, per_second: float) -> float:
        now, most = self._clock.monotonic(), max(per_second * BURST_SECONDS, 1.0)
        left, at = self._buckets.get(who, (most, now))
        return min(left + (now - at) * per_second, most)

    def _keep(self, who: str, left: float) -> None:
        self._buckets[who] = (left, self._clock.monotonic())
        self._buckets.move_to_end(who)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
