"""A day's money, in the zone that is meant."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from claude_sessions.clock import ManualClock
from claude_sessions.errors import Conflict
from claude_sessions.sessions.purse import Purse

BERLIN = ZoneInfo("Europe/Berlin")


def purse(budget: float | None, spent: dict[datetime, float], now: datetime) -> Purse:
    def spent_since(at: datetime) -> float:
        return sum(usd for when, usd in spent.items() if when >= at)

    return Purse(budget, spent_since=spent_since, clock=ManualClock(now), zone=BERLIN)


def test_only_today_counts_and_today_is_one_of_the_zone() -> None:
    late = datetime(2026, 5, 4, 22, 30, tzinfo=UTC)  # half past midnight in Berlin
    spent = {datetime(2026, 5, 4, 21, 59, tzinfo=UTC): 3.0, late: 1.5}
    assert purse(5.0, spent, late).left() == 3.5


def test_a_spent_day_says_so_and_begins_anew_at_midnight_also_when_the_clocks_change() -> None:
    noon = datetime(2026, 3, 28, 11, 0, tzinfo=UTC)
    spent = purse(5.0, {noon: 6.0}, noon)
    assert spent.left() == 0.0
    with pytest.raises(Conflict, match=r"Today's budget of \$5.00 is spent"):
        spent.check()
    night = datetime(2026, 3, 29, 23, 30, tzinfo=BERLIN)  # a day of 23 hours
    assert purse(5.0, {}, night).refills_at() == datetime(2026, 3, 30, tzinfo=BERLIN).timestamp()


def test_without_a_budget_there_is_no_limit() -> None:
    free = purse(None, {datetime.now(UTC): 1000.0}, datetime.now(UTC))
    assert free.left() is None
    free.check()
