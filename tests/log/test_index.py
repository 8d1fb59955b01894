"""What the index and the sums say, beside the events they come from."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions import events as e
from claude_sessions.model import Reason, Status
from claude_sessions.storage.rows import INLINE, to_facts
from claude_sessions.storage.sqlite import Store
from tests.log.words import born, happened, said

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "log.sqlite", runner="runner01") as opened:
        yield opened


def write(store: Store, *drafts: e.Draft, at: datetime = NOON) -> None:
    facts = to_facts(drafts, at, epoch=store.epoch, runner=store.runner)
    assert store.append([facts]) == {}


def asleep(session: str, reason: Reason = Reason.IDLE) -> e.Draft:
    return happened(e.SessionAsleep(reason=reason), session)


def ended(session: str, **more: object) -> e.Draft:
    fields = {"status": Status.COMPLETED, "reason": Reason.DONE, "duration_ms": 1000} | more
    return happened(e.SessionEnded(**fields), session)  # type: ignore[arg-type]


def test_a_row_says_what_a_list_shows(store: Store) -> None:
    birth = e.SessionCreated(
        project_id="p", name="a", directory="/srv/a", prompt="fix " * 100, origin="c|1"
    )
    write(store, e.Draft(session="s1", payload=birth))
    write(store, happened(e.TurnCompleted(cost_usd=0.25)), happened(e.TurnCompleted(cost_usd=0.5)))
    write(store, happened(e.TurnInterrupted(reason=Reason.USER)), ended("s1"))
    row = store.session_row("a")
    assert row is not None
    assert (row.status, row.reason, row.origin) == (Status.COMPLETED, Reason.DONE, "c|1")
    assert (row.cost_usd, row.cost_unknown, row.run_ended_at) == (0.75, True, NOON)
    assert row.prompt == ("fix " * 100)[:200]


def test_those_in_line_stand_in_their_order_and_leave_when_they_are_woken(store: Store) -> None:
    for session in ("a", "b", "c"):
        write(store, born(session))
    for session in ("b", "a", "c"):
        write(store, happened(e.SessionQueued(), session))
    assert [row.id for row in store.line()] == ["b", "a", "c"]
    write(store, happened(e.SessionWoken(), "b"), ended("c"))
    assert [row.id for row in store.line()] == ["a"]


@pytest.mark.parametrize("reason", Reason)
def test_only_what_the_daemon_s_end_cut_off_is_news_until_it_is_told(
    store: Store, reason: Reason
) -> None:
    write(store, born("a"), asleep("a", reason))
    cut_off = reason in (Reason.ABANDONED, Reason.SHUTDOWN)
    assert [row.id for row in store.news()] == (["a"] if cut_off else [])
    write(store, happened(e.SessionReported(), "a"))
    assert store.news() == []


def test_a_session_is_found_by_a_part_of_its_name(store: Store) -> None:
    for session in ("fix-auth", "fix-css", "docs"):
        write(store, born(session))
    assert {row.name for row in store.like("FIX", 10)} == {"fix-auth", "fix-css"}
    assert [row.name for row in store.like("auth", 10)] == ["fix-auth"]
    assert store.like("%", 10) == []


def test_who_came_forward_last_is_in_front(store: Store) -> None:
    write(store, born("a"), born("b"))
    for session in ("a", "b", "a"):
        write(store, happened(e.Foregrounded(channel="c|1"), session))
    assert store.fronts("c|1") == ["a", "b"]
    write(store, happened(e.Backgrounded(channel="c|1"), "a"))
    assert (store.fronts("c|1"), store.fronts("c|2")) == (["b"], [])


def test_each_run_and_each_dollar_is_counted_once(store: Store) -> None:
    write(store, born("a"), happened(e.TurnCompleted(cost_usd=0.5), "a"), ended("a"))
    write(store, happened(e.SessionResumed(), "a"), happened(e.SessionStarted(), "a"))
    write(store, happened(e.TurnCompleted(cost_usd=0.25), "a"))
    write(store, asleep("a"), happened(e.SessionWoken(), "a"))
    write(store, ended("a", status=Status.KILLED, cost_unknown=True, duration_ms=3000))
    sums = store.sums()
    expected = {"launched": 1, "completed": 1, "killed": 1, "duration": 4000, "unknown": 1}
    assert sums.counts == expected
    assert sums.spending == [(NOON, 0.75)]
    assert sums.dearest is not None
    assert (sums.dearest.name, sums.dearest.cost_usd) == ("a", 0.75)


def test_money_is_summed_from_any_moment_on(store: Store) -> None:
    for hours in (0, 1, 5):
        spent = happened(e.TurnCompleted(cost_usd=1.0), "a")
        write(store, spent, at=NOON + timedelta(hours=hours))
    assert store.spent_since(NOON) == 3.0
    assert store.spent_since(NOON + timedelta(minutes=30)) == 2.0
    assert store.spent_since(NOON + timedelta(days=1)) == 0.0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5000), st.floats(0.001, 9)), max_size=30))
def test_the_quarters_add_up(turns: list[tuple[int, float]]) -> None:
    with TemporaryDirectory() as place, Store(Path(place) / "log", runner="r") as store:
        for minutes, usd in turns:
            spent = happened(e.TurnCompleted(cost_usd=usd), "a")
            write(store, spent, at=NOON + timedelta(minutes=minutes))
        assert sum(usd for _, usd in store.sums().spending) == pytest.approx(
            sum(usd for _, usd in turns)
        )


def test_beyond_the_bound_what_has_ended_goes_first_and_the_log_keeps_it(store: Store) -> None:
    for number in range(6):
        at = NOON + timedelta(minutes=number)
        write(store, born(f"s{number}"), at=at)
        write(store, ended(f"s{number}") if number % 2 else asleep(f"s{number}"), at=at)
    write(store, born("busy"), happened(e.SessionStarted(), "busy"))
    events = store.head()
    assert len(store.trim(3)) == 4
    assert {row.id for row in store.session_rows()} == {"s2", "s4", "busy"}
    assert store.head() == events
    assert store.trim(3) == []
    assert len(store.trim(1)) == 2  # never one that has a process
    write(store, born("again", "s1"))  # its name is free


def test_what_was_trimmed_is_brought_back_by_its_id_and_counted_once(store: Store) -> None:
    for number in range(12):
        birth = born(f"s{number}", f"name-{number}")
        write(store, birth, happened(e.TurnCompleted(cost_usd=1.0), f"s{number}"))
        write(store, ended(f"s{number}"))
    store.trim(10)
    assert store.session_row("s0") is None
    write(store, born("other", "name-0"))
    before = store.sums()
    assert store.bring_back("s0")
    assert not store.bring_back("nobody")
    row = store.session_row("s0")
    assert row is not None
    assert (row.name, row.status, row.cost_usd) == ("s0", Status.COMPLETED, 1.0)
    assert store.sums() == before


def test_what_is_forgotten_is_gone_with_its_blobs_and_nothing_else_is(store: Store) -> None:
    shared, own = "x" * (INLINE + 1), "y" * (INLINE + 1)
    write(store, born("a"), said(shared, "a"), said(own, "a"))
    write(store, born("b"), said(shared, "b"), happened(e.Foregrounded(channel="c|1"), "a"))
    assert store.forget("a") == 4
    assert [event.session for event in store.events(limit=100)] == ["b", "b"]
    assert store.events(limit=1, session="b", after=4)[0].payload == said(shared).payload
    assert (store.session_row("a"), store.fronts("c|1")) == (None, [])
    with store._reader() as db:
        assert db.execute("SELECT count(*) FROM blobs").fetchone() == (1,)
    write(store, born("a"))
    assert store.events(limit=9, session="a")[0].session_seq == 1


def test_words_that_are_not_finished_are_noted_until_they_are(store: Store) -> None:
    store.note({"a": ("b1", "so far"), "b": ("b2", "also")})
    store.note({"a": ("b1", "so far and on")})
    assert store.draft("a") == ("b1", "so far and on")
    assert store.draft("b") is None
