"""What a cron line means, also on the nights when clocks change."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions.errors import BadRequest
from claude_sessions.schedules.cron import Cron

BERLIN = ZoneInfo("Europe/Berlin")
SPRING = datetime(2026, 3, 28, 12, tzinfo=UTC)  # the day before 2:00 becomes 3:00
AUTUMN = datetime(2026, 10, 24, 12, tzinfo=UTC)  # the day before 3:00 becomes 2:00
SUNDAY = datetime(2026, 1, 4, tzinfo=UTC)


def times(line: str, after: datetime, count: int, zone: ZoneInfo = BERLIN) -> list[str]:
    cron, found = Cron(line), []
    for _ in range(count):
        following = cron.next(after, zone)
        assert following is not None
        after = following
        found.append(f"{after.astimezone(zone):%a %H:%M %z}")
    return found


@pytest.mark.parametrize(
    ("field", "days"),
    [
        ("1-5", "Mon Tue Wed Thu Fri"),
        ("0", "Sun Sun"),
        ("7", "Sun Sun"),
        ("0,7", "Sun Sun"),
        ("6", "Sat Sat"),
        ("5-7", "Fri Sat Sun Fri"),
        ("fri-sun", "Fri Sat Sun Fri"),
        ("SUN-tue", "Mon Tue Sun"),
        ("*/2", "Tue Thu Sat Sun Tue"),
        ("1-5/2", "Mon Wed Fri Mon"),
        ("mon,3", "Mon Wed Mon"),
    ],
)
def test_weekdays_are_counted_as_cron_does(field: str, days: str) -> None:
    after = SUNDAY + timedelta(hours=12)
    found = times(f"0 9 * * {field}", after, len(days.split()))
    assert [time.split()[0] for time in found] == days.split()


def test_a_day_and_a_weekday_mean_either_of_them() -> None:
    utc = ZoneInfo("UTC")
    assert times("0 9 13 * 5", datetime(2026, 1, 10, tzinfo=UTC), 3, utc) == [
        "Tue 09:00 +0000",
        "Fri 09:00 +0000",
        "Fri 09:00 +0000",
    ]


def test_a_time_that_the_clocks_jump_over_comes_once_and_an_hour_later() -> None:
    assert times("30 2 * * *", SPRING, 2) == ["Sun 03:30 +0200", "Mon 02:30 +0200"]


def test_what_falls_together_in_the_jump_is_one_run() -> None:
    assert times("30 2,3 * * *", SPRING, 2) == ["Sun 03:30 +0200", "Mon 02:30 +0200"]


def test_a_later_line_is_not_held_up_by_one_that_was_jumped_over() -> None:
    assert times("10,50 2,3 * * *", SPRING, 3) == [
        "Sun 03:10 +0200",
        "Sun 03:50 +0200",
        "Mon 02:10 +0200",
    ]


def test_a_time_that_comes_twice_is_taken_the_first_time_only() -> None:
    assert times("30 2 * * *", AUTUMN, 2) == ["Sun 02:30 +0200", "Mon 02:30 +0100"]


def test_every_hour_is_every_hour_that_really_passes() -> None:
    night = datetime(2026, 10, 24, 23, tzinfo=UTC)
    assert times("30 * * * *", night, 4) == [
        "Sun 01:30 +0200",
        "Sun 02:30 +0200",
        "Sun 02:30 +0100",
        "Sun 03:30 +0100",
    ]
    night = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)
    assert times("0 * * * *", night, 2) == ["Sun 01:00 +0100", "Sun 03:00 +0200"]


def test_the_same_line_is_another_moment_in_another_zone() -> None:
    after = datetime(2026, 1, 1, tzinfo=UTC)
    tokyo = Cron("0 9 * * *").next(after, ZoneInfo("Asia/Tokyo"))
    assert tokyo == datetime(2026, 1, 2, 0, 0, tzinfo=UTC)
    assert Cron("0 9 * * *").next(after, BERLIN) == datetime(2026, 1, 1, 8, tzinfo=UTC)


def test_a_name_stands_for_its_line() -> None:
    assert times("@weekly", SUNDAY, 1) == ["Sun 00:00 +0100"]
    assert times("@HOURLY", SUNDAY, 1) == ["Sun 02:00 +0100"]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "* * * * 5-1",
        "* * * * mon-",
        "* * * * */0",
        "*/0 * * * *",
        "1,,2 * * * *",
        "٣ * * * *",
        "a * * * *",
        "@never",
        "* * " + "1," * 300 + "1 * *",
    ],
)
def test_what_cron_does_not_know_is_refused_with_an_example(line: str) -> None:
    with pytest.raises(BadRequest, match="at 9:00 from Monday to Friday") as refusal:
        Cron(line)
    assert len(str(refusal.value)) < 400


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text("0123456789*/,-monL ", max_size=6), min_size=4, max_size=6).map(" ".join))
def test_nothing_but_a_refusal_is_ever_raised(line: str) -> None:
    with contextlib.suppress(BadRequest):
        Cron(line).next(SUNDAY, BERLIN)


LINES = st.sampled_from(
    [
        "30 2 * * *",
        "*/7 * * * *",
        "0 */3 * * *",
        "15 1-3 * * 0",
        "0,30 2,3 25-31 3,10 *",
        "5 * * * 7",
    ]
)
ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
CHANGES = st.sampled_from([SPRING, AUTUMN, datetime(2026, 3, 7, tzinfo=UTC), SUNDAY])


@settings(max_examples=150, deadline=None)
@given(LINES, ZONES, CHANGES, st.integers(0, 48 * 60))
def test_times_only_ever_go_forward_and_none_comes_twice(
    line: str, zone: str, day: datetime, minutes: int
) -> None:
    after = day + timedelta(minutes=minutes)
    for _ in range(30):
        following = Cron(line).next(after, ZoneInfo(zone))
        assert following is not None
        assert following > after
        # whoever asks from any moment in between is given the same
        between = after + (following - after) / 2
        assert Cron(line).next(between, ZoneInfo(zone)) == following
        after = following
