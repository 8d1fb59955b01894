"""The turns of a session, as the log has them: what was asked, and where each ended."""

from __future__ import annotations

from dataclasses import dataclass

from claude_sessions import events as e
from claude_sessions.commands.pool import Pool
from claude_sessions.errors import Conflict, NotFound
from claude_sessions.state import SessionState


@dataclass(slots=True, kw_only=True)
class PastTurn:
    prompt: str
    leaf: str = ""  # Claude's id of its last message; empty: it did not come to its end


async def turns_of(pool: Pool, session_id: str) -> list[PastTurn]:
    """Those that a person began, in order."""
    messages: dict[str, str] = {}
    turns: dict[str, PastTurn] = {}
    after = 0
    while page := await pool.log.events(session_id, after=after):
        for event in page:
            match event.payload:
                case e.UserMessage(message_id=id_, text=text):
                    messages[id_] = text
                case e.TurnStarted(message_ids=(first, *_)):
                    turns[event.turn or ""] = PastTurn(prompt=messages.get(first, ""))
                case e.TurnCompleted(leaf=leaf) if event.turn in turns:
                    turns[event.turn].leaf = leaf
        after = page[-1].seq
    return list(turns.values())


async def leaf_of(pool: Pool, state: SessionState, number: int) -> str:
    turns = await turns_of(pool, state.id)
    if not 1 <= number <= len(turns):
        raise NotFound(f"{state.name} has no turn {number}. /turns {state.name} lists them.")
    if not (leaf := turns[number - 1].leaf):
        raise Conflict(f"Turn {number} of {state.name} did not come to its end. Choose another.")
    return leaf
