from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions.errors import BadRequest
from claude_sessions.schedules.when import When, understood, zone_here, zone_of

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)  # 13:00 in Berlin


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("in 30m", NOW + timedelta(minutes=30)),
        ("in 2h", NOW + timedelta(hours=2)),
        ("in 1D", NOW + timedelta(days=1)),
        ("at 18:30", datetime(2026, 11, 18, 17, 30, tzinfo=UTC)),
        ("at 9:00", datetime(2026, 11, 19, 8, 0, tzinfo=UTC)),
        ("at 13:00", datetime(2026, 11, 19, 12, 0, tzinfo=UTC)),
        ("at 2026-12-01T09:00", datetime(2026, 12, 1, 8, 0, tzinfo=UTC)),
        ("at 2026-12-01 09:00", datetime(2026, 12, 1, 8, 0, tzinfo=UTC)),
        ("at 2026-12-01T09:00Z", datetime(2026, 12, 1, 9, 0, tzinfo=UTC)),
        ("at 2027-03-28T02:30", datetime(2027, 3, 28, 1, 30, tzinfo=UTC)),  # jumped over
    ],
)
def test_a_single_time_is_meant_in_its_zone(words: str, at: datetime) -> None:
    when = understood(words, NOW, BERLIN)
    assert when == When(at=at)
    assert when.next(NOW, BERLIN) == at
    assert when.next(at, BERLIN) is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("at 2026-11-18T12:59", "2026-11-18 12:59 has passed"),
        ("at 2020-01-01T00:00", "has passed"),
        ("at 2090-01-01T00:00", "too far away"),
        ("in 99999d", "too far away"),
        ("at 9999-12-31T23:59-12:00", "At what time"),
        ("at 25:00", "Say 18:30"),
        ("at noon", "At what time"),
        ("in 0m", "Say 30m"),
        ("in a while", "In how long"),
        ("in -5m", "In how long"),
        ("0 0 30 2 *", "never comes"),
        ("whenever", "no cron line"),
    ],
)
def test_what_has_passed_or_never_comes_is_refused_in_a_sentence(words: str, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        understood(words, NOW, BERLIN)


def test_a_zone_nobody_knows_is_refused() -> None:
    for name in ("Mars/Base", "../etc/passwd", "", "x" * 5000):
        with pytest.raises(BadRequest, match="no time zone"):
            zone_of(name)


def test_the_configured_zone_wins_over_this_machines() -> None:
    assert zone_here("Asia/Tokyo") == ZoneInfo("Asia/Tokyo")
    assert zone_here(None).key


def test_of_a_year_of_minutes_only_the_last_is_found_and_soon() -> None:
    when = When(cron="* * * * *")
    year_ago = NOW - timedelta(days=365)
    assert when.latest(year_ago, NOW + timedelta(seconds=20), BERLIN) == NOW
    assert when.latest(NOW, NOW + timedelta(seconds=59), BERLIN) is None


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["*/10 * * * *", "30 2 * * *", "0 9 * * 1-5", "7 1,2,3 * * *"]),
    st.integers(0, 6 * 1440),
    st.integers(0, 4 * 1440),
)
def test_the_latest_is_the_last_of_all(line: str, start: int, length: int) -> None:
    when = When(cron=line)
    after = datetime(2026, 10, 22, tzinfo=UTC) + timedelta(minutes=start)
    upto = after + timedelta(minutes=length)
    last, at = None, when.next(after, BERLIN)
    while at is not None and at <= upto:
        last, at = at, when.next(at, BERLIN)
    assert when.latest(after, upto, BERLIN) == last
