"""What all sessions together may spend in a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta, tzinfo

from claude_sessions.clock import Clock
from claude_sessions.errors import Conflict


class Purse:
    """`spent_since`: what was spent from a moment on. `zone`: whose days; None: this machine's."""

    def __init__(
        self,
        budget_usd: float | None,
        *,
        spent_since: Callable[[datetime], float],
        clock: Clock,
        zone: tzinfo | None = None,
    ) -> None:
        self._budget = budget_usd
        self._spent_since = spent_since
        self._clock = clock
        self._zone = zone

    def left(self) -> float | None:
        """None: there is no limit."""
        if self._budget is None:
            return None
        return max(self._budget - self._spent_since(self._day(0)), 0.0)

    def refills_at(self) -> float:
        return self._day(1).timestamp()

    def check(self) -> None:
        if self.left() == 0.0:
            raise Conflict(f"{self.told()} Raise [sessions] daily_budget_usd to go on today.")

    def told(self) -> str:
        return f"Today's budget of ${self._budget:,.2f} is spent; it begins anew at midnight."

    def _day(self, later: int) -> datetime:
        """When a day begins; a day may have 23 hours, so it is asked for by its date."""
        today = self._clock.now().astimezone(self._zone).date()
        begins = datetime.combine(today + timedelta(days=later), time())
        return begins.replace(tzinfo=self._zone) if self._zone else begins.astimezone()
