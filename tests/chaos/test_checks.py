"""Each check finds what it is there to find: otherwise a quiet chaos would prove nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from claude_sessions import events as e
from claude_sessions.model import Reason, Status
from tests.chaos import answers, checks, messages, runs
from tests.chaos.evidence import Asked, CatchUp, Evidence, Life
from tests.chaos.excerpt import excerpt
from tests.chaos.host import CHANNEL
from tests.chaos.story import answer

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WORD = "quick-0001"
SAID = answer(WORD, 0)
MESSAGE = e.UserMessage(message_id="m1", text=f"Please do {WORD}")
SENT = e.MessageSent(message_id="m1")
BEGAN = e.TurnStarted(message_ids=("m1",))
CONSUMED = e.MessageConsumed(message_id="m1")
BORN = e.SessionCreated(project_id="p", name="s1", directory="/work")
STARTED = e.SessionStarted()
FRONT = e.Foregrounded(channel=CHANNEL)
BACK = e.Backgrounded(channel=CHANNEL)
WORDS = e.AssistantMessage(text=SAID)
DONE = e.TurnCompleted()
CUT = e.TurnInterrupted(reason=Reason.ABANDONED)
KILLED = e.SessionEnded(status=Status.KILLED, reason=Reason.USER)
ASLEEP = e.SessionAsleep(reason=Reason.SHUTDOWN)
GOOD = (BORN, MESSAGE, FRONT, STARTED, SENT, BEGAN, CONSUMED, WORDS, DONE, ASLEEP)
CUT_OFF = (BORN, MESSAGE, STARTED, SENT, BEGAN, CONSUMED, CUT, ASLEEP)
ONCE = Asked(conversation="c1", prompt=f"Please do {WORD}", length=1)

Check = Callable[[Evidence], Iterator[str]]


def logged(*payloads: e.Payload, run: str = "r1", turn: str = "t1") -> list[e.Event]:
    """One session's life, an event a second; nothing but turns belongs to one."""
    return [
        e.Event(
            seq=n,
            epoch="log",
            session_seq=n,
            id=f"e{n}",
            at=NOON + timedelta(seconds=n),
            runner="test",
            project="p",
            session="abc",
            run=run,
            turn=turn if isinstance(payload, IN_TURN) else None,
            payload=payload,
        )
        for n, payload in enumerate(payloads, 1)
    ]


IN_TURN = (e.MessageSent, e.TurnStarted, e.TurnCompleted, e.TurnInterrupted, e.MessageConsumed)


def life(*, killed: bool = False, shown: bool = True, lasted: float = 60) -> Life:
    return Life(
        head=0,
        began=NOON,
        ended=NOON + timedelta(seconds=lasted),
        killed=killed,
        shown=frozenset({("abc", SAID)} if shown else ()),
        told=[("abc", "waiting")] if shown else [],
    )


def evidence(*payloads: e.Payload) -> Evidence:
    """A round in which all went well, if `payloads` do."""
    blocks = tuple(p.text for p in payloads if isinstance(p, e.AssistantMessage))
    return Evidence(
        events=logged(*payloads),
        accepted=(WORD,),
        asked=(ONCE,),
        lives=(life(),),
        read={"abc": blocks},
        written=(SAID,),
        kept=("m1",),
    )


WELL = evidence(*GOOD)
TWICE = (ONCE, replace(ONCE, length=3))


def without(*gone: e.Payload) -> Evidence:
    return evidence(*(payload for payload in GOOD if payload not in gone))


def test_a_good_round_has_no_violations() -> None:
    assert checks.violations(WELL) == []


ASKED = e.ApprovalRequested(approval_id="a1", tool_use_id="u1", tool_name="Bash", input={})
TERMINAL = e.TerminalMessage(message_id="m1", text=WORD, transcript_bytes=1)

PLANTED: list[tuple[Check, Evidence]] = [
    (messages.accepted_are_logged, without(MESSAGE)),
    (messages.reached_once, replace(WELL, asked=TWICE)),
    (messages.reached_once, without(SENT)),
    (messages.reached_once, replace(evidence(*GOOD[:6], SENT), asked=TWICE)),
    (messages.sent_again_only_when_returned, evidence(*GOOD, SENT)),
    (messages.none_is_lost, replace(WELL, asked=())),
    (messages.none_is_lost, replace(evidence(BORN, MESSAGE, STARTED, ASLEEP), asked=())),
    (messages.none_is_lost, replace(evidence(*CUT_OFF), kept=())),
    (messages.none_is_lost, evidence(BORN, MESSAGE, STARTED, CONSUMED, ASLEEP)),
    (runs.states_fold, evidence(BORN, STARTED, ASLEEP, STARTED)),
    (runs.runs_end_once, evidence(*GOOD, KILLED, KILLED)),
    (runs.runs_end_once, replace(WELL, events=[*WELL.events, *logged(ASLEEP, run="r2")])),
    (runs.turns_end_once, without(DONE)),
    (runs.turns_end_once, evidence(*GOOD, CUT)),
    (runs.questions_are_settled_once, evidence(*GOOD, ASKED)),
    (runs.sums_agree, evidence(*GOOD, KILLED)),
    (answers.answers_are_logged, replace(without(WORDS), written=())),
    (answers.answers_are_logged, replace(WELL, written=("Something else.",))),
    (answers.blocks_can_be_read, replace(WELL, read={})),
    (answers.watchers_saw_it, replace(WELL, lives=(life(shown=False),))),
    (
        answers.catching_up_is_exact,
        replace(WELL, caught_up=(CatchUp(session="abc", missed=(SAID,)),)),
    ),
    (answers.endings_are_told, replace(WELL, lives=(life(shown=False),))),
    (answers.endings_are_told, evidence(*GOOD, KILLED)),
    (answers.what_was_cut_off_is_told, evidence(*GOOD, CUT)),
    (answers.nobody_was_at_a_terminal, evidence(*GOOD, TERMINAL)),
    (checks.nothing_is_left, replace(WELL, left=("process 1",))),
    (checks.nothing_went_wrong_inside, replace(WELL, mishaps=("session.failed",))),
]


@pytest.mark.parametrize(("check", "planted"), PLANTED)
def test_a_planted_violation_is_found(check: Check, planted: Evidence) -> None:
    assert list(check(planted))


def test_every_check_has_been_tried() -> None:
    assert {check for check, _ in PLANTED} == set(checks.CHECKS)


def test_a_request_that_the_cli_tries_again_is_no_second_time() -> None:
    tried = replace(ONCE, finished=False)
    assert messages.arrivals(replace(WELL, asked=(tried, ONCE)))[WORD] == 1


def test_a_second_time_after_an_interruption_that_was_told_is_none() -> None:
    returned = e.MessageReturned(message_id="m1")
    events = evidence(*GOOD[:6], returned, CUT, SENT, *GOOD[5:])
    assert not list(messages.reached_once(replace(events, asked=TWICE)))


@pytest.mark.parametrize(
    "payloads",
    [
        (BORN, MESSAGE, e.MessageWithdrawn(message_id="m1"), STARTED, ASLEEP),
        (BORN, MESSAGE, KILLED),
        CUT_OFF,
    ],
)
def test_what_was_withdrawn_or_cut_off_or_waits_for_a_resume_need_not_have_arrived(
    payloads: tuple[e.Payload, ...],
) -> None:
    assert not list(messages.none_is_lost(replace(evidence(*payloads), asked=())))


def test_what_was_logged_in_the_moment_of_a_kill_may_not_have_been_delivered() -> None:
    at = GOOD.index(WORDS) + 1
    killed = life(killed=True, shown=False, lasted=at + 0.5)
    assert not list(answers.watchers_saw_it(replace(WELL, lives=(killed,))))


def test_what_was_missed_is_what_came_since_the_channel_looked_away() -> None:
    missed = CatchUp(session="abc", missed=(SAID,))
    seen = evidence(BORN, FRONT, BACK, STARTED, WORDS, FRONT)
    assert not list(answers.catching_up_is_exact(replace(seen, caught_up=(missed,))))


def test_a_violation_is_told_with_the_events_it_is_about() -> None:
    told = excerpt(WELL, [f"none_is_lost: {WORD} never reached the model"])
    assert any("UserMessage" in line for line in told)
    assert any(line.startswith("model c1") for line in told)
    assert any(line.startswith("daemon 12:00:00") for line in told)
