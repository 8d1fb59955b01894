"""Claude's own file of a session's conversation, beside what our log has of it.

The CLI does not de-duplicate and does not say what it took in before it died; its file does. So it
is read before anything is sent again, before a conversation is taken up, and to learn what was
said in a terminal meanwhile.
"""

from __future__ import annotations

import asyncio

from claude_sessions import events as e
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.sessions.stream import slash_of
from claude_sessions.state import QueuedMessage, SessionState

TURNS = 100  # of a conversation that was adopted; Claude's own file has the rest


async def size(transcripts: Transcripts, state: SessionState) -> int | None:
    if state.claude_id is None:
        return None
    return await asyncio.to_thread(transcripts.size, state.claude_id)


async def given_back(transcripts: Transcripts, state: SessionState) -> list[e.Payload]:
    """What becomes of messages whose process is gone in the middle of a turn.

    Claude says that it takes a message in, and writes it down a tenth of a second later: one that
    is killed in between knows nothing of it afterwards. One of Claude's own commands is left alone:
    it leaves no line of its own. The last comes first, as each goes in front of the queue.
    """
    facts: list[e.Payload] = []
    taken = [message for message in state.taken if slash_of(message.text) is None]
    for message in reversed((*taken, *state.given)):
        if not await _knows(transcripts, state.claude_id, message):
            facts.append(e.MessageReturned(message_id=message.id))
        elif message in state.given:
            facts.append(e.MessageConsumed(message_id=message.id))
    return facts


async def _knows(transcripts: Transcripts, claude_id: str | None, message: QueuedMessage) -> bool:
    return claude_id is not None and await asyncio.to_thread(
        transcripts.has_message, claude_id, message.id
    )


async def trouble(transcripts: Transcripts, state: SessionState) -> str | None:
    """Why its conversation cannot be taken up as it was; None: it can."""
    assert state.claude_id is not None
    found = await asyncio.to_thread(transcripts.check, state.claude_id)
    if found is None:
        length = await size(transcripts, state) or 0
        if length >= (state.transcript_bytes or 0):
            return None
        found = f"is shorter than it was ({length:,} of {state.transcript_bytes:,} bytes)"
    told = f"Claude's file of the conversation {state.claude_id} {found}."
    if "missing" in found or "empty" in found:
        return f"{told} What was said is kept here: /output {state.name} --full"
    return f"{told} It is left as it is; /resume --fork {state.name} goes on from what is left."


def never_began(transcripts: Transcripts, state: SessionState) -> bool:
    """Claude gave it an id and was gone before it wrote anything down, perhaps not before it spoke.

    No length: whenever one of its processes ended, there was no file yet.
    """
    unseen = not state.blocks or state.transcript_bytes is None
    return state.claude_id is not None and unseen and transcripts.find(state.claude_id) is None


async def said_elsewhere(transcripts: Transcripts, state: SessionState) -> list[e.Payload]:
    """Turns that somebody made in a terminal while we had no process."""
    if state.claude_id is None or state.transcript_bytes is None or state.status.has_process:
        return []
    length = await size(transcripts, state)
    if length is None or length <= state.transcript_bytes:
        return []
    tail = await asyncio.to_thread(transcripts.turns, state.claude_id, state.transcript_bytes)
    facts: list[e.Payload] = []
    for turn in tail.turns[-TURNS:]:
        if turn.uuid:
            facts.append(
                e.TerminalMessage(message_id=turn.uuid, text=turn.prompt, transcript_bytes=tail.end)
            )
            facts += [e.AssistantMessage(text=block) for block in turn.blocks]
    return facts
