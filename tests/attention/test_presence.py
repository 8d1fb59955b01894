"""Where each person is in the log, and when nothing rings for them; both outlive the daemon."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_sessions import events as e
from claude_sessions.attention.book import QuietBook
from claude_sessions.attention.presence import Presence
from claude_sessions.attention.quiet import QuietHours
from claude_sessions.clock import ManualClock
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.documents import Documents
from claude_sessions.storage.presence import Position
from tests.log.words import log_in
from tests.waiting import eventually

EVENING = datetime(2026, 11, 18, 23, tzinfo=UTC)
PHONE = "telegram|1001"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(EVENING)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with log_in(tmp_path) as opened:
        yield opened


async def happens(log: EventLog, text: str = "x") -> None:
    await log.append(e.Draft(payload=e.Noticed(code="x", message=text)))


async def test_who_acts_is_here_and_who_did_not_for_an_hour_was_away(
    log: EventLog, clock: ManualClock
) -> None:
    async with Presence(log, clock) as presence:
        assert presence.acts("ann", PHONE) is None
        await happens(log)
        clock.advance(3599)
        assert presence.acts("ann", None) is None
        await happens(log)
        clock.advance(3600)
        before = presence.acts("ann", None)
    assert before is not None
    assert (before.seq, before.at) == (1, EVENING.timestamp() + 3599)
    after = presence.of("ann")
    assert after is not None
    assert (after.seq, after.since_seq, after.channel) == (2, 1, PHONE)


async def test_a_position_is_durable_soon_and_known_to_the_next_daemon(
    log: EventLog, clock: ManualClock
) -> None:
    async with Presence(log, clock) as presence:
        await happens(log)
        presence.acts("ann", PHONE)
        await eventually(log.store.presences.all)  # a kill now would lose nothing
        await happens(log)
        presence.acts("ann", None)
    async with Presence(log, clock) as presence:
        at = EVENING.timestamp()
        known = Position(person="ann", seq=2, at=at, since_seq=1, since_at=at, channel=PHONE)
        assert presence.of("ann") == known
        assert presence.of("bob") is None


async def test_who_has_been_told_is_not_told_again(log: EventLog, clock: ManualClock) -> None:
    async with Presence(log, clock) as presence:
        presence.acts("ann", PHONE)
        await happens(log)
        morning = EVENING.timestamp() + 8 * 3600
        presence.told("ann", morning)
        await happens(log)
        presence.told("ann", morning)
        known = presence.of("ann")
    assert known is not None
    assert (known.seq, known.at, known.since_seq) == (1, morning, 0)


async def test_the_turns_that_ended_are_found_without_reading_what_lies_between(
    log: EventLog,
) -> None:
    for number in range(5):
        turn = e.Draft(payload=e.TurnCompleted(cost_usd=float(number)), session="s")
        await log.append(turn, *[e.Draft(payload=e.Noticed(code="x", message="x"))] * 20)
    found = log.store.turns_since(1, 3)
    assert [event.payload.cost_usd for event in found] == [2.0, 3.0, 4.0]  # type: ignore[attr-defined]
    with log.store._reader() as db:
        plan = db.execute(
            "EXPLAIN QUERY PLAN SELECT id FROM events"
            " WHERE type IN ('turn.completed', 'turn.interrupted')"
            " AND seq > ? ORDER BY seq DESC LIMIT ?",
            (1, 3),
        ).fetchall()
    assert "events_turns" in str(plan)


def book(home: Path, log: EventLog, clock: ManualClock, hours: str | None = "22-7") -> QuietBook:
    configured = QuietHours.read(hours) if hours else None
    documents = Documents(home / "documents.json")
    return QuietBook(documents, log, configured=configured, clock=clock, zone=UTC)


async def test_ones_own_hours_win_over_the_configured_ones(
    tmp_path: Path, log: EventLog, clock: ManualClock
) -> None:
    quiet = book(tmp_path, log, clock)
    assert quiet.hold_now("ann")
    await quiet.choose("ann", "off", "ann (x)")
    assert not quiet.hold_now("ann")
    await quiet.choose("ann", "1-5", "ann (x)")
    assert not book(tmp_path, log, clock).hold_now("ann")
    assert quiet.hold_now("bob")
    assert quiet.hold_now(None)
    await quiet.choose("ann", None, "ann (x)")
    assert quiet.hold_now("ann")


async def test_a_mistake_made_by_hand_costs_nobody_a_message(
    tmp_path: Path, log: EventLog, clock: ManualClock
) -> None:
    quiet = book(tmp_path, log, clock, None)
    (tmp_path / "documents.json").write_text('{"preferences": {"ann": {"quiet_hours": "late"}}}')
    assert not quiet.hold_now("ann")
