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
        now, most = self._clock.monotonic(), max(self._per_second * BURST_SECONDS, 1.0)
        left, at = self._buckets.get(who, (most, now))
        left = min(left + (now - at) * self._per_second, most)
        wait = 0.0 if left >= 1.0 else (1.0 - left) / self._per_second
        self._buckets[who] = (left if wait else left - 1.0, now)
        self._buckets.move_to_end(who)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return wait
