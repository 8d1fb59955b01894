"""The queue between the world and one conversation.

It is in the log: a message is there before Claude sees it. Claude is given one message at a time,
plus what is meant to steer; the CLI does not de-duplicate, so nothing is ever sent twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from claude_sessions import engines as g
from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.model import new_id
from claude_sessions.state import QueuedMessage, SessionState, draft

SLASH = re.compile(r"/([\w:.-]+)(?:\s+(.*))?\Z", re.DOTALL)


def slash_of(text: str) -> tuple[str, str] | None:
    """`/compact now` → ("compact", "now"). A path such as /etc/hosts is not a command."""
    match = SLASH.match(text.strip())
    return (match[1], match[2] or "") if match else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    turn: str
    message: QueuedMessage
    slash: str | None = None


class MessageStream:
    def __init__(self, log: EventLog) -> None:
        self._log = log

    async def begin_turn(self, state: SessionState, conversation: g.Conversation) -> Begun | None:
        """Give Claude the next message, unless it is busy or still owes us one."""
        if state.turn or state.given:
            return None
        refused: list[e.Payload] = []
        for message in state.queued:
            slash = slash_of(message.text)
            if slash and slash[0] not in conversation.commands:
                refused += _refusal(message, slash, conversation.commands)
                continue
            return await self._send(state, message, slash, conversation, before=refused)
        await self._log.append(*(draft(state, fact) for fact in refused), hold=True)
        return None

    async def _send(
        self,
        state: SessionState,
        message: QueuedMessage,
        slash: tuple[str, str] | None,
        conversation: g.Conversation,
        *,
        before: list[e.Payload],
    ) -> Begun:
        turn = new_id()
        facts: list[e.Payload] = [
            e.MessageSent(message_id=message.id),
            e.TurnStarted(message_ids=(message.id,)),
        ]
        if slash:
            facts.append(e.SlashInvoked(command=slash[0], args=slash[1], message_id=message.id))
        drafts = [draft(state, fact) for fact in before]
        drafts += [draft(state, fact, turn=turn) for fact in facts]
        await self._log.append(*drafts, hold=True)
        await conversation.send(
            g.Message(id=message.id, text=message.text, attachments=message.attachments)
        )
        return Begun(turn=turn, message=message, slash=slash[0] if slash else None)

    async def steer(
        self, state: SessionState, message: e.UserMessage, conversation: g.Conversation
    ) -> None:
        sent = e.MessageSent(message_id=message.message_id)
        await self._log.append(draft(state, sent), hold=True)
        await conversation.send(
            g.Message(
                id=message.message_id,
                text=message.text,
                attachments=message.attachments,
                steer=True,
            )
        )


def _refusal(
    message: QueuedMessage, slash: tuple[str, str], offered: tuple[str, ...]
) -> list[e.Payload]:
    return [
        e.MessageWithdrawn(message_id=message.id),
        e.SlashResult(command=slash[0], output=not_offered(slash[0], offered), is_error=True),
    ]


def not_offered(command: str, offered: tuple[str, ...]) -> str:
    names = ", ".join(f"/{name}" for name in sorted(offered) if not name.startswith("_"))
    return f"This session has no /{command}. It offers: {names}."
