"""State is a pure fold: what is live is what the log says, at every position."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_sessions import codec
from claude_sessions import events as e
from claude_sessions.clock import ManualClock
from claude_sessions.eventlog import EventLog
from claude_sessions.model import ENDINGS, MOVES, Activity, AskKind, Reason, Status
from claude_sessions.sessions.book import SessionBook
from claude_sessions.state import IllegalMove, MessageState, SessionState, fold, fold_all

IDS = st.sampled_from(["m1", "m2", "m3"])
CHANNELS = st.sampled_from(["memory|a", "memory|b"])
COSTS = st.sampled_from([0.0, 0.25, 1.5])

BORN = e.SessionCreated(project_id="p", name="one", directory="/srv", budget_usd=5.0)
ANYTIME: list[st.SearchStrategy[e.Payload]] = [
    st.builds(e.UserMessage, message_id=IDS, text=st.text(max_size=5), front=st.booleans()),
    st.builds(e.MessageSent, message_id=IDS),
    st.builds(e.MessageConsumed, message_id=IDS),
    st.builds(e.MessageWithdrawn, message_id=IDS),
    st.builds(e.AssistantMessage, text=st.just("words")),
    st.builds(e.AssistantMessage, text=st.just("words"), parent_tool_use_id=st.just("t")),
    st.builds(e.TurnStarted),
    st.builds(e.TurnStarted, message_ids=st.tuples(IDS)),
    st.builds(
        e.ToolOutput,
        tool_use_id=IDS,
        content=st.just(""),
        file=st.sampled_from(["", "a", "/b"]),
        added=st.integers(0, 9),
    ),
    st.builds(e.TurnUndone, files=st.just(("/b",))),
    st.builds(e.TurnCompleted, cost_usd=COSTS, context_tokens=st.integers(0, 9)),
    st.builds(e.TurnInterrupted, reason=st.just(Reason.USER), cost_usd=st.none() | COSTS),
    st.builds(
        e.ApprovalRequested,
        approval_id=IDS,
        tool_use_id=IDS,
        tool_name=st.just("Bash"),
        input=st.just({}),
    ),
    st.builds(
        e.ApprovalResolved,
        approval_id=IDS,
        tool_use_id=IDS,
        tool_name=st.just("Bash"),
        decision=st.just("allow"),
    ),
    st.builds(e.InputRequested, approval_id=IDS, tool_use_id=IDS, questions=st.just(())),
    st.builds(e.Foregrounded, channel=CHANNELS),
    st.builds(e.Backgrounded, channel=CHANNELS, position=st.integers(0, 9)),
    st.builds(e.SessionRenamed, name=st.sampled_from(["one", "two"])),
    st.builds(e.ConversationIdentified, claude_session_id=st.sampled_from(["c1", "c2"])),
    st.builds(e.TaskStarted, task_id=IDS, description=st.just("")),
    st.builds(e.TaskEnded, task_id=IDS, status=st.just("completed")),
    st.just(e.Unknown(type="of.the.future", data={"a": 1})),
]
MOVING: list[tuple[Status, e.Payload]] = [
    (Status.RUNNING, e.SessionStarted(claude_session_id="c1")),
    (Status.ASLEEP, e.SessionAsleep(reason=Reason.IDLE)),
    (Status.PARKED, e.SessionParked()),
    (Status.STARTING, e.SessionWoken()),
    (Status.STARTING, e.SessionResumed()),
    *((end, e.SessionEnded(status=end, reason=Reason.USER)) for end in sorted(ENDINGS)),
]


def legal(status: Status) -> st.SearchStrategy[e.Payload]:
    moves = [payload for to, payload in MOVING if to in MOVES[status]]
    return st.one_of(st.sampled_from(moves), *ANYTIME)


@st.composite
def lives(draw: st.DrawFn) -> list[e.Payload]:
    """A session's life: anything that may happen to it, in an order in which it may."""
    payloads: list[e.Payload] = [BORN]
    state = event_fold(None, BORN, 1)
    for seq in range(2, draw(st.integers(2, 40))):
        payload = draw(legal(state.status))
        payloads.append(payload)
        state = event_fold(state, payload, seq)
    return payloads


def at(seq: int, payload: e.Payload) -> e.Event:
    return e.Event(
        seq=seq,
        epoch="e",
        session_seq=seq,
        id=str(seq),
        at=ManualClock().now(),
        runner="r",
        project="p",
        session="s",
        run="run",
        turn="turn",
        payload=payload,
    )


def event_fold(state: SessionState | None, payload: e.Payload, seq: int) -> SessionState:
    return fold(state, at(seq, payload))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lives())
async def test_the_live_state_is_the_fold_at_every_position(payloads: list[e.Payload]) -> None:
    with tempfile.TemporaryDirectory() as place:
        async with EventLog(Path(place) / "log.db", runner="r") as log:
            book = SessionBook(log, output_blocks=3)
            seen: list[tuple[int, SessionState]] = []
            for payload in payloads:
                draft = e.Draft(payload=payload, session="s", project="p", run="run", turn="turn")
                (event,) = await log.append(draft)
                live = book.state("s")
                assert live is not None
                seen.append((event.seq, live))
            for seq, live in seen:
                assert await log.state_at("s", seq) == live
            fresh = SessionBook(log, output_blocks=3)
            assert await fresh.load("s") == seen[-1][1]
            assert fresh.output("s").end == book.output("s").end
            assert fresh.output("s").last(3) == book.output("s").last(3) or any(
                getattr(p, "parent_tool_use_id", None) for p in payloads
            )


@given(lives())
def test_folding_is_pure_and_keeps_its_invariants(payloads: list[e.Payload]) -> None:
    events = [at(n, payload) for n, payload in enumerate(payloads, 1)]
    state = fold_all(events)
    assert state == fold_all(events)
    assert state is not None
    assert state.cost_usd >= state.run_cost_usd >= 0
    assert state.blocks == sum(
        isinstance(p, e.AssistantMessage) and p.parent_tool_use_id is None for p in payloads
    )
    if state.status.ended or state.status is Status.ASLEEP:
        assert (state.turn, state.pending, state.tasks) == (None, (), ()) or _later(payloads)
    assert (state.activity is Activity.WAITING) == bool(state.pending)


def _later(payloads: list[e.Payload]) -> bool:
    """Something was added after the last move: the log takes what comes."""
    moves = tuple(type(payload) for _, payload in MOVING)
    return not isinstance(payloads[-1], moves)


@pytest.mark.parametrize("status", list(Status))
def test_an_illegal_move_raises(status: Status) -> None:
    state = replace(event_fold(None, BORN, 1), status=status)
    for to, payload in MOVING:
        again = to is status is Status.RUNNING  # being told twice that it runs is no move
        if to in MOVES[status] or again:
            assert event_fold(state, payload, 2).status is to
        else:
            with pytest.raises(IllegalMove):
                event_fold(state, payload, 2)


def test_a_message_to_the_front_goes_behind_what_claude_already_has() -> None:
    state = event_fold(None, BORN, 1)
    for seq, payload in enumerate(
        [
            e.UserMessage(message_id="a", text="a"),
            e.UserMessage(message_id="b", text="b"),
            e.MessageSent(message_id="a"),
            e.UserMessage(message_id="c", text="c", front=True),
        ],
        2,
    ):
        state = event_fold(state, payload, seq)
    assert [m.id for m in state.queue] == ["a", "c", "b"]
    assert state.queue[0].state is MessageState.SENT
    assert [m.id for m in state.queued] == ["c", "b"]


def test_the_cost_of_a_turn_that_was_cut_off_is_unknown_not_zero() -> None:
    state = event_fold(None, BORN, 1)
    state = event_fold(state, e.TurnStarted(), 2)
    state = event_fold(state, e.TurnInterrupted(reason=Reason.CRASH), 3)
    assert state.cost_unknown
    assert state.budget_left == 5.0


def test_an_approval_makes_it_wait() -> None:
    state = event_fold(None, BORN, 1)
    asked = e.ApprovalRequested(approval_id="a", tool_use_id="t", tool_name="Bash", input={})
    state = event_fold(state, asked, 2)
    assert state.activity is Activity.WAITING
    assert state.pending[0].kind is AskKind.TOOL


@given(st.sampled_from(sorted(codec.PAYLOADS)), st.dictionaries(st.text(max_size=8), st.integers()))
def test_reading_a_payload_never_raises(type_: str, data: dict[str, int]) -> None:
    assert codec.decode(type_, data) is not None


@given(lives())
def test_payloads_survive_the_way_to_disk_and_back(payloads: list[e.Payload]) -> None:
    for payload in payloads:
        if not isinstance(payload, e.Unknown):
            raw = orjson.loads(orjson.dumps(codec.encode(payload)))
            assert codec.decode(payload.TYPE, raw) == payload
