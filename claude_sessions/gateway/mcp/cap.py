"""How many messages agents may send a session in a row, without a person in between.

Two agents, or an agent and a session, could else talk for ever. It is counted from the log, so
neither a restart nor another connection begins anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from claude_sessions import events as e
from claude_sessions.errors import Conflict
from claude_sessions.eventlog import EventLog
from claude_sessions.state import SessionState

DOOR = "MCP"
COUNTED = (e.SessionCreated.TYPE, e.UserMessage.TYPE)


class AutoResponds:
    def __init__(self, log: EventLog, most: int) -> None:
        self._log = log
        self.most = most
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def one_more(self, state: SessionState) -> AsyncIterator[int]:
        """The how-manieth in a row this is. One at a time, so that none slips through."""
        lock = self._locks.setdefault(state.id, asyncio.Lock())
        async with lock:
            events = await self._log.tail_of(state.id, COUNTED, self.most + 2)
            before = in_a_row(events)
            if before >= self.most:
                raise Conflict(
                    f"Auto-respond limit reached ({before} of {self.most}): agents have sent "
                    f"{state.name} that many messages in a row. A person has to write to "
                    f"{state.name} first, from any chat; then you may go on."
                )
            yield before + 1


def in_a_row(events: Iterable[e.Event]) -> int:
    """Messages of agents since a person's last; what a session was launched with is not one."""
    count = 0
    for event in events:
        if isinstance(event.payload, e.SessionCreated):
            count = -1
        elif is_agents(event.caller):
            count += 1
        elif event.caller is not None:  # the daemon's own word neither ends a row nor prolongs it
            count = 0
    return max(count, 0)


def is_agents(caller: str | None) -> bool:
    return caller is not None and caller.endswith(f" ({DOOR})")
