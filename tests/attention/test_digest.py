"""What somebody who was away is told: one line a session, what matters most first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from claude_sessions import events as e
from claude_sessions.attention.digest import (
    Meanwhile,
    Skipped,
    Turns,
    actions_of,
    composed,
    is_news,
    lines_of,
    tallied,
)
from claude_sessions.model import AskKind, Reason, Status
from claude_sessions.state import Pending
from claude_sessions.storage.index import SessionRow

LEFT = datetime(2026, 11, 18, 14, tzinfo=UTC)
HOUR = timedelta(hours=1)
NOW = LEFT + 3 * HOUR


def row(name: str, status: Status = Status.ASLEEP, **more: Any) -> SessionRow:
    return SessionRow(
        id=f"id-{name}",
        name=name,
        status=status,
        directory="/srv/web",
        project=None,
        claude_ids=(),
        created_at=LEFT,
        updated_at=LEFT + HOUR,
        last_seq=1,
        **more,
    )


def asks(name: str, at: datetime) -> SessionRow:
    pending = Pending(id="a1", tool_use_id="t1", kind=AskKind.TOOL, tool_name="Bash", at=at)
    return row(name, Status.RUNNING, pending=(pending,), turn="t1")


def texts(meanwhile: Meanwhile) -> list[str]:
    return [line.text for line in lines_of(meanwhile, LEFT, NOW)]


def turn(session: str, payload: e.Payload, at: datetime = NOW) -> e.Event:
    return e.Event(
        seq=1,
        epoch="x",
        session_seq=1,
        id="x",
        at=at,
        runner="r",
        project=None,
        session=session,
        run=None,
        turn=None,
        payload=payload,
    )


def test_what_needs_you_comes_first_then_what_failed_then_what_is_done_then_what_works() -> None:
    meanwhile = Meanwhile(
        sessions=[
            row("busy", Status.RUNNING, turn="t1", turn_started_at=NOW - timedelta(seconds=42)),
            row("fix-auth"),
            row("api", Status.FAILED, run_ended_at=LEFT + HOUR),
            asks("docs", LEFT + HOUR),
        ],
        turns={
            "id-fix-auth": Turns(number=3, cost_usd=0.61, done_at=NOW - timedelta(minutes=40)),
            "id-api": Turns(number=1, cost_usd=0.1, done_at=LEFT + HOUR),
        },
    )
    assert texts(meanwhile) == [
        "⚠️ docs waits for you 2 h",
        "❌ api failed 2 h ago · 1 turn · $0.10",
        "✅ fix-auth done 40 min ago · 3 turns · $0.61",
        "🟢 busy working 0:42",
    ]


def test_turns_are_counted_by_session_and_the_last_one_says_how_it_went() -> None:
    found = tallied(
        [
            turn("a", e.TurnCompleted(cost_usd=0.25)),
            turn("b", e.TurnInterrupted(reason=Reason.USER)),
            turn("a", e.TurnCompleted(is_error=True, error="overloaded", cost_usd=0.25)),
        ]
    )
    assert found["a"] == Turns(number=2, cost_usd=0.5, done_at=NOW, failed="overloaded")
    assert found["b"] == Turns(number=1, cost_unknown=True)


def test_a_session_whose_last_turn_failed_has_failed() -> None:
    turns = {"id-api": Turns(number=2, cost_usd=0.5, done_at=NOW - HOUR, failed="over\nloaded")}
    told = texts(Meanwhile(sessions=[row("api")], turns=turns))
    assert told == ["❌ api failed 1 h ago: over ⏎ loaded · 2 turns · $0.50"]


def test_one_that_somebody_interrupted_or_stopped_is_no_news() -> None:
    stopped = row("old", Status.KILLED, run_ended_at=LEFT + HOUR)
    turns = {"id-web": Turns(number=1, cost_unknown=True)}
    lines = lines_of(Meanwhile(sessions=[row("web"), stopped], turns=turns), LEFT, NOW)
    assert [line.text for line in lines] == ["⛔ old killed 2 h ago"]
    assert not is_news(lines, after=LEFT)


def test_what_was_asked_before_is_shown_again_but_is_no_news() -> None:
    lines = lines_of(Meanwhile(sessions=[asks("docs", LEFT - HOUR)], turns={}), LEFT, NOW)
    assert [line.text for line in lines] == ["⚠️ docs waits for you 4 h"]
    assert not is_news(lines, after=LEFT)


def test_news_are_of_a_time_and_not_of_what_one_has_before_oneself() -> None:
    turns = {"id-web": Turns(number=1, done_at=LEFT + HOUR)}
    lines = lines_of(Meanwhile(sessions=[row("web")], turns=turns), LEFT, NOW)
    assert is_news(lines, after=LEFT)
    assert is_news(lines, after=LEFT, upto=LEFT + HOUR)
    assert not is_news(lines, after=LEFT, upto=LEFT + HOUR / 2)
    assert not is_news(lines, after=LEFT + HOUR)
    assert not is_news(lines, after=LEFT, but=["id-web"])


def test_a_schedule_that_did_not_run_has_failed() -> None:
    skipped = Skipped(name="nightly", reason="the last one still works", at=LEFT + HOUR)
    meanwhile = Meanwhile(sessions=[], turns={}, skipped=[skipped])
    assert texts(meanwhile) == ["⏭ nightly was skipped: the last one still works"]


def test_it_stays_short_with_a_few_buttons_however_much_happened() -> None:
    names = [f"s{number:02}" for number in range(40)]
    turns = {f"id-{name}": Turns(number=2, cost_usd=0.5, done_at=NOW) for name in names}
    sessions = [asks("docs", NOW), *map(row, names)]
    meanwhile = Meanwhile(sessions=sessions, turns=turns, many=True)
    lines = lines_of(meanwhile, LEFT, NOW)
    text = composed("While you were away (3 h)", meanwhile, lines).split("\n")
    assert text[0] == "While you were away (3 h) · 80 turns and more · $20"
    assert (len(text), text[-1]) == (12, "… and 31 more: /sessions")
    labels = [action.label for action in actions_of(lines)]
    assert labels == ["Approvals", "Foreground docs", "Foreground s00", "Foreground s01"]


def test_nothing_is_said_to_be_nothing() -> None:
    nothing = Meanwhile(sessions=[], turns={})
    assert composed("Since 14:00", nothing, []) == "Since 14:00\nNothing happened."
