"""Quiet hours, as a clock on the wall has them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.attention.quiet import QuietHours

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = QuietHours.read("22-7")
TIMES = st.times(timezones=st.none()).map(lambda at: at.replace(second=0, microsecond=0))
MOMENTS = st.datetimes(
    min_value=datetime(2020, 1, 1),  # noqa: DTZ001
    max_value=datetime(2030, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


def berlin(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=BERLIN).astimezone(UTC)


@pytest.mark.parametrize(
    ("hour", "minute", "quiet"),
    [(21, 59, False), (22, 0, True), (0, 0, True), (6, 59, True), (7, 0, False), (12, 0, False)],
)
def test_a_night_crosses_midnight(hour: int, minute: int, quiet: bool) -> None:
    assert NIGHT.cover(berlin(18, hour, minute), BERLIN) is quiet


def test_an_afternoon_does_not() -> None:
    nap = QuietHours.read("13-14:30")
    assert nap.cover(berlin(18, 14, 29), BERLIN)
    assert not nap.cover(berlin(18, 14, 30), BERLIN)
    assert not nap.cover(berlin(18, 2), BERLIN)


@pytest.mark.parametrize("words", ["", "22", "7-7", "22-25", "22:60-7", "22-7-8", "-1-7", "٢٢-٧"])
def test_what_are_no_hours_is_refused_with_what_to_write(words: str) -> None:
    with pytest.raises(ValueError, match="write them like 22-7"):
        QuietHours.read(words)


@pytest.mark.parametrize("words", ["22-7", "0-8", "22:30-6:45", "7-22"])
def test_they_are_shown_as_they_are_written(words: str) -> None:
    assert str(QuietHours.read(words)) == words


def test_the_last_night_is_the_one_that_is_over() -> None:
    just_over = NIGHT.last(berlin(19, 7), BERLIN)
    assert (just_over.began, just_over.ended) == (berlin(18, 22), berlin(19, 7))
    assert NIGHT.last(berlin(20, 6, 59), BERLIN) == just_over
    assert NIGHT.next_end(berlin(19, 7), BERLIN) == berlin(20, 7)


def test_the_night_in_which_clocks_change_is_an_hour_longer() -> None:
    morning = datetime(2026, 10, 25, 7, tzinfo=BERLIN).astimezone(UTC)
    night = NIGHT.last(morning, BERLIN)
    assert (night.ended - night.began).total_seconds() == 10 * 3600


@given(TIMES, TIMES, MOMENTS)
def test_a_night_ends_before_now_and_the_next_one_after(
    start: datetime, end: datetime, now: datetime
) -> None:
    if start == end:
        return
    hours = QuietHours(start=start, end=end)  # type: ignore[arg-type]
    night = hours.last(now, UTC)
    assert night.began < night.ended <= now < hours.next_end(now, UTC)
    assert hours.cover(night.began, UTC)
    assert not hours.cover(night.ended, UTC)
