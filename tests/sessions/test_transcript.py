"""What Claude's own file does not have is not taken for known."""

from __future__ import annotations

from pathlib import Path

import orjson

from claude_sessions import events as e
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.model import Reason
from claude_sessions.sessions.transcript import given_back, never_began
from claude_sessions.state import SessionState, fold_all
from tests.test_state import at

CLAUDE = "0b0e4c2e-7d5c-4c56-9d3b-6a2a2f0f7c11"
BORN = (
    e.SessionCreated(project_id="p", name="one", directory="/srv"),
    e.SessionStarted(),
    e.ConversationIdentified(claude_session_id=CLAUDE),
)


def state_after(*payloads: e.Payload) -> SessionState:
    state = fold_all(at(seq, payload) for seq, payload in enumerate((*BORN, *payloads), 1))
    assert state is not None
    return state


def told(*ids: str, text: str = "go") -> list[e.Payload]:
    return [
        fact
        for one in ids
        for fact in (e.UserMessage(message_id=one, text=text), e.MessageSent(message_id=one))
    ]


def transcripts(home: Path, *known: str) -> Transcripts:
    file = home / ".claude" / "projects" / "-srv" / f"{CLAUDE}.jsonl"
    file.parent.mkdir(parents=True)
    lines = [orjson.dumps({"type": "user", "uuid": one}) + b"\n" for one in known]
    if lines:
        file.write_bytes(b"".join(lines))
    return Transcripts({"HOME": str(home)})


async def test_what_was_taken_in_and_not_written_down_is_given_back(tmp_path: Path) -> None:
    state = state_after(*told("m1", "m2"), e.TurnStarted(), e.MessageConsumed(message_id="m1"))
    known = transcripts(tmp_path, "m2")
    returned = [e.MessageReturned(message_id="m1")]
    assert await given_back(known, state, also_taken=True) == returned
    assert await given_back(known, state, also_taken=False) == []  # somebody wanted it to stop


async def test_several_come_back_in_the_order_they_were_said_in(tmp_path: Path) -> None:
    said = (*told("m1", "m2", "m3"), e.TurnStarted(), e.MessageConsumed(message_id="m1"))
    facts = await given_back(transcripts(tmp_path), state_after(*said), also_taken=True)
    state = state_after(*said, *facts)
    assert [message.id for message in state.queued] == ["m1", "m2", "m3"]
    assert state.taken == ()


async def test_what_was_written_down_is_not_said_again(tmp_path: Path) -> None:
    state = state_after(*told("m1"), e.TurnStarted(), e.MessageConsumed(message_id="m1"))
    assert await given_back(transcripts(tmp_path, "m1"), state, also_taken=True) == []


async def test_one_of_claudes_own_commands_is_not_carried_out_twice(tmp_path: Path) -> None:
    said = told("m1", text="/compact")
    state = state_after(*said, e.TurnStarted(), e.MessageConsumed(message_id="m1"))
    assert await given_back(transcripts(tmp_path), state, also_taken=True) == []


def test_a_turn_that_is_over_keeps_what_it_took_in() -> None:
    said = (*told("m1"), e.TurnStarted(), e.MessageConsumed(message_id="m1"))
    assert [message.id for message in state_after(*said).taken] == ["m1"]
    assert state_after(*said, e.TurnInterrupted(reason=Reason.USER)).taken == ()


def test_one_that_spoke_before_it_wrote_anything_down_may_begin_anew(tmp_path: Path) -> None:
    spoke = e.AssistantMessage(text="I begin.")
    gone = e.SessionAsleep(reason=Reason.ABANDONED)
    assert never_began(transcripts(tmp_path), state_after(spoke, gone))


def test_a_file_that_was_there_and_is_missing_is_no_beginning(tmp_path: Path) -> None:
    spoke = e.AssistantMessage(text="I begin.")
    gone = e.SessionAsleep(reason=Reason.ABANDONED, transcript_bytes=100)
    assert not never_began(transcripts(tmp_path), state_after(spoke, gone))
