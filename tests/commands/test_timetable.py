from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from claude_sessions.commands.chat import parse
from claude_sessions.commands.timetable import LISTED, Row, added, listing, local, resumed
from claude_sessions.model import Role
from claude_sessions.schedules.book import Schedule

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 18, 22, 30, tzinfo=UTC)  # a Wednesday, 23:30 in Berlin
NIGHTLY = Schedule(
    id="k3v9x2ab",
    cron="0 9 * * 1-5",
    prompt="Run the tests\nand fix what broke",
    name="nightly",
    directory="/home/ann/web",
    by="ann",
    role=Role.PROMPTER,
    made_at=NOW,
    since=NOW,
)
ROW = Row(schedule=NIGHTLY, zone=BERLIN, next=datetime(2026, 11, 19, 8, tzinfo=UTC))


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-11-18T22:45", "today 23:45"),
        ("2026-11-18T23:15", "tomorrow 00:15"),
        ("2026-11-18T08:00", "today 09:00"),
        ("2026-11-17T08:00", "yesterday 09:00"),
        ("2026-11-20T08:00", "Fri 09:00"),
        ("2026-11-25T08:00", "25 Nov 09:00"),
        ("2027-07-01T07:00", "1 Jul 2027 09:00"),
    ],
)
def test_a_time_is_said_as_people_say_it(at: str, words: str) -> None:
    assert local(datetime.fromisoformat(at).replace(tzinfo=UTC), NOW, BERLIN) == words


def test_a_row_says_when_what_where_and_how_the_last_run_went() -> None:
    last = replace(NIGHTLY, last_due=NOW - timedelta(days=1), last_problem="it was full")
    text, _ = listing([replace(ROW, schedule=last)], NOW)
    assert text.splitlines() == [
        "⏰ nightly · tomorrow 09:00 · web · 0 9 * * 1-5",
        '   📝 "Run the tests ⏎ and fix what broke"',
        "   last: yesterday 23:30 · skipped: it was full",
        "   id k3v9x2ab · by ann",
        "1 schedule",
    ]


def test_one_without_an_outcome_did_not_start_unless_it_is_starting() -> None:
    begun = replace(ROW, schedule=replace(NIGHTLY, last_due=NOW))
    assert "last: today 23:30 · did not start" in listing([begun], NOW)[0]
    assert "last: today 23:30 · starting" in listing([replace(begun, starting=True)], NOW)[0]
    gone = replace(ROW, schedule=replace(NIGHTLY, last_due=NOW, last_session="s"))
    assert "its session is gone" in listing([gone], NOW)[0]


def test_what_comes_next_stands_first_and_what_is_paused_last() -> None:
    paused = Row(schedule=replace(NIGHTLY, name="paused", paused=True), zone=BERLIN, next=None)
    sooner = replace(ROW, schedule=replace(NIGHTLY, name="sooner"), next=NOW)
    text, _ = listing([paused, ROW, sooner], NOW)
    heads = [line for line in text.splitlines() if line[0] in "⏰⏸"]
    assert [head.split()[1] for head in heads] == ["sooner", "nightly", "paused"]


def test_two_hundred_of_them_are_still_one_message_with_a_few_buttons() -> None:
    long = replace(NIGHTLY, prompt="x" * 20_000, name="n" * 48, by="b" * 64)
    text, actions = listing([replace(ROW, schedule=long)] * 200, NOW)
    assert f"… and {200 - LISTED} more" in text
    assert len(actions) == 30
    assert len(text) < 20_000


def test_every_button_is_a_line_that_can_be_read() -> None:
    paused = replace(NIGHTLY, paused=True)
    for schedule in (NIGHTLY, paused):
        for action in added(replace(ROW, schedule=schedule), NOW)[1]:
            assert parse(action.line)


def test_one_that_was_paused_over_its_time_says_so() -> None:
    assert "its time has passed" in resumed(replace(ROW, next=None), NOW)
    assert "nightly runs again: tomorrow 09:00" in resumed(ROW, NOW)
