"""The runtime envelope's words, without a socket: whatever comes, in whatever order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions import events as e
from claude_sessions.feed import Item
from claude_sessions.gateway.runtime_cast import frames
from claude_sessions.gateway.runtime_commands import Abort, Ignored, Received, Resume, Send, read
from claude_sessions.gateway.runtime_events import Telling, read_run_id, run_id
from claude_sessions.model import Reason, Status

AT = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
TYPES = {
    *("flow:start", "flow:complete", "flow:paused", "flow:resumed", "flow:aborted"),
    *("node:start", "node:complete", "node:error", "node:skipped", "edge:fire", "loop:iterate"),
    *("state:patch", "command:received", "agent:start", "agent:thinking", "agent:thinking:delta"),
    *("agent:text", "agent:text:delta", "agent:tool", "agent:error", "agent:complete"),
    *("agent:paused", "agent:aborted"),
}


def event(seq: int, payload: e.Payload, *, run: str = "run00000") -> e.Event:
    return e.Event(
        seq=seq,
        epoch="e",
        session_seq=seq,
        id=f"i{seq}",
        at=AT,
        runner="r",
        project="p",
        session="session0",
        run=run,
        turn="t",
        payload=payload,
    )


CREATED = e.SessionCreated(project_id="p", name="a", directory="/w", prompt="hello")
TOOL, ASKED = "tool", "asked000"
SIGNALS: list[Item] = [
    e.AssistantDelta(session="session0", turn="t", block="b", offset=0, text="One "),
    e.AssistantDelta(session="session0", turn="t", block="b", offset=4, text="two."),
    e.ThinkingDelta(session="session0", turn="t", block="h", offset=0, text="Hm"),
    e.ToolProgress(
        session="session0", turn="t", tool_use_id=TOOL, tool_name="Bash", elapsed_seconds=1.0
    ),
    e.StorageTrouble(session="", message="full"),
]
PAYLOADS: list[e.Payload] = [
    CREATED,
    e.SessionStarted(claude_session_id="c"),
    e.SessionStarted(),
    e.ConversationIdentified(claude_session_id="c2"),
    e.SessionWoken(),
    e.SessionResumed(),
    e.SessionQueued(),
    e.SessionParked(),
    *(e.SessionAsleep(reason=reason) for reason in (Reason.PAUSED, Reason.IDLE, Reason.SHUTDOWN)),
    *(e.SessionEnded(status=s, reason=Reason.USER) for s in Status if s.ended),
    e.SessionEnded(status=Status.FAILED, reason=Reason.CRASH, message="It died."),
    e.UserMessage(message_id="m", text="say"),
    e.TurnStarted(message_ids=("m",)),
    e.TurnCompleted(usage={"input_tokens": None}, model_usage={"x": None, "y": {}}),
    e.TurnCompleted(is_error=True, reason="api_error"),
    *(e.TurnInterrupted(reason=r, last=last) for r in Reason for last in (True, False)),
    e.AssistantMessage(text="One two.", block="b"),
    e.AssistantThought(text="Hmm", block="h"),
    e.ToolRequested(tool_name="Bash", tool_use_id=TOOL, input={"command": "ls"}),
    e.ToolOutput(tool_use_id=TOOL, content="x", is_error=True),
    e.ToolCompleted(tool_use_id=TOOL, duration_ms=3),
    e.ApprovalRequested(approval_id=ASKED, tool_use_id=TOOL, tool_name="Bash", input={}),
    e.ApprovalResolved(approval_id=ASKED, tool_use_id=TOOL, tool_name="Bash", decision="allow"),
    e.InputRequested(approval_id=ASKED, tool_use_id=TOOL, questions=({"question": "?"},)),
    e.InputReceived(approval_id=ASKED, tool_use_id=TOOL, answers={}),
    e.SlashResult(command="compact", output="done"),
    e.Unknown(type="of.tomorrow", data={}),
]


@given(st.lists(st.sampled_from([*SIGNALS, *PAYLOADS]), max_size=25))
def test_any_order_of_anything_is_told_in_words_of_the_seed(items: list[Any]) -> None:
    telling = Telling()
    telling.hear(event(1, CREATED), AT)
    for seq, item in enumerate(items, 2):
        known = item if isinstance(item, e.Signal) else event(seq, item)
        told = telling.hear(known, AT)
        for each, frame in zip(told, frames(told, known), strict=True):
            assert each["type"] in TYPES
            assert list(each)[-1] == "timestamp"
            assert None not in each.values()
            assert orjson.loads(frame.text) == {"type": "event", "event": as_sent(each)}


def as_sent(told: dict[str, Any]) -> Any:
    return orjson.loads(orjson.dumps(told))


@given(st.lists(st.sampled_from([*SIGNALS, *PAYLOADS]), max_size=12))
def test_without_a_beginning_nothing_is_told(items: list[Any]) -> None:
    telling = Telling()
    told = [
        telling.hear(item if isinstance(item, e.Signal) else event(seq, item), AT)
        for seq, item in enumerate(items, 2)
        if item is not CREATED
    ]
    assert not any(told)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=5), st.data())
def test_pieces_make_up_the_block_exactly_however_they_overlap(
    lengths: list[int], data: st.DataObject
) -> None:
    text = "abcdefghijklmnopqrstuvwxyz"[: sum(lengths)]
    telling, pieces, place = Telling(), "", 0
    telling.hear(event(1, CREATED), AT)
    for length in lengths[: data.draw(st.integers(0, len(lengths)))]:
        start = data.draw(st.integers(0, place))
        place = max(place, start + length)
        delta = e.AssistantDelta(
            session="session0", turn="t", block="b", offset=start, text=text[start:place]
        )
        pieces += "".join(each["content"] for each in telling.hear(delta, AT))
    told = telling.hear(event(2, e.AssistantMessage(text=text, block="b")), AT)
    *rest, whole = told
    assert pieces + "".join(each["content"] for each in rest) == whole["content"] == text


def test_the_time_is_the_event_s_own_in_whole_milliseconds() -> None:
    told = Telling().hear(event(1, CREATED), datetime.now(UTC))
    assert {each["timestamp"] for each in told} == {round(AT.timestamp() * 1000)}


def test_a_conversation_that_was_adopted_begins_when_it_is_first_woken() -> None:
    telling = Telling()
    adopted = e.SessionCreated(project_id="p", name="a", directory="/w", adopted=True)
    identified = e.ConversationIdentified(claude_session_id="c")
    facts = [adopted, identified, e.SessionAsleep(reason=Reason.ADOPTED), e.SessionWoken()]
    told = [telling.hear(event(n, each), AT) for n, each in enumerate(facts, 1)]
    assert [each["type"] for each in told[-1]] == ["flow:start", "node:start"]
    assert not any(told[:-1])


def test_one_that_never_began_is_not_told_to_have_ended() -> None:
    telling = Telling()
    adopted = e.SessionCreated(project_id="p", name="a", directory="/w", adopted=True)
    asleep = [e.SessionAsleep(reason=reason) for reason in (Reason.ADOPTED, Reason.PAUSED)]
    ended = e.SessionEnded(status=Status.KILLED, reason=Reason.USER)
    facts = [adopted, *asleep, ended]
    assert not any(telling.hear(event(n, each), AT) for n, each in enumerate(facts, 1))
    begins = telling.hear(event(5, e.SessionResumed(), run="run00001"), AT)
    assert [each["type"] for each in begins] == ["flow:start", "node:start"]


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_run_id_says_whose_it_is(session: str, run: str) -> None:
    session = session.replace(".", "")
    assert read_run_id(run_id(session, run)) == (session, run)


# --- what clients say


@given(st.binary(max_size=200))
def test_any_frame_is_read(frame: bytes) -> None:
    assert isinstance(read(frame), Ignored | Received)


@pytest.mark.parametrize(
    ("command", "wish"),
    [
        ({"type": "abort"}, Abort(resumable=False)),
        ({"type": "abort", "resumable": True, "reason": "x"}, Abort(resumable=True)),
        ({"type": "abort", "resumable": 1}, Abort(resumable=False)),
        ({"type": "pause"}, Abort(resumable=True)),
        ({"type": "stop"}, Abort(resumable=False)),
        ({"type": "resume"}, Resume(message="continue")),
        ({"type": "resume", "message": None}, Resume(message="continue")),
        ({"type": "resume", "message": "go"}, Resume(message="go")),
        ({"type": "resume", "message": 7}, None),
        ({"type": "send", "runId": "r", "message": "m"}, Send(run_id="r", message="m")),
        ({"type": "send", "runId": "r", "message": ""}, None),
        ({"type": "send", "runId": "r"}, None),
        ({"type": "reply", "runId": "r", "content": "c"}, None),
        ({"type": "dance"}, None),
        ({}, None),
    ],
)
def test_each_command_is_its_wish(command: dict[str, Any], wish: object) -> None:
    heard = read(orjson.dumps({"type": "command", "command": command}))
    assert isinstance(heard, Received)
    assert heard.wish == wish
    assert bool(heard.problem) is (wish is None)
    assert heard.echo == orjson.dumps(command)
