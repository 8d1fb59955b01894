"""The line for a process: those who wait, in order, and word that somebody may have left."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from claude_sessions import events as e

# After each of these a process may be free, or its session may be asked to rest.
FREEING = (
    e.TurnCompleted,
    e.TurnInterrupted,
    e.SessionAsleep,
    e.SessionParked,
    e.SessionEnded,
    e.ApprovalRequested,
    e.InputRequested,
    e.MessageWithdrawn,
    e.TaskEnded,
)
LEAVING = (e.SessionWoken, e.SessionResumed, e.SessionAsleep, e.SessionEnded)


class Line:
    """Kept by what the log says: `see` is one of its observers."""

    def __init__(self) -> None:
        self._waiting: dict[str, None] = {}  # in order
        self._stirred = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def restore(self, sessions: Iterable[str]) -> None:
        self._waiting = dict.fromkeys(sessions)
        self._stirred.set()

    def see(self, event: e.Event) -> None:
        session, payload = event.session or "", event.payload
        if isinstance(payload, e.SessionQueued):
            self._waiting[session] = None
        elif isinstance(payload, LEAVING):
            self._waiting.pop(session, None)
        if self._waiting and isinstance(payload, (*FREEING, e.SessionQueued)):
            self._stirred.set()

    def stir(self) -> None:
        """It may be worth trying again, for a reason that no event tells."""
        if self._waiting:
            self._stirred.set()

    def leave(self, session: str) -> None:
        """For whoever has no more reason to wait, whatever the log said last."""
        self._waiting.pop(session, None)

    def first(self) -> str | None:
        return next(iter(self._waiting), None)

    def place(self, session: str) -> int:
        """From 1; 0: it does not wait."""
        return next((n for n, one in enumerate(self._waiting, 1) if one == session), 0)

    async def stirred(self) -> None:
        """Until it is worth trying again."""
        await self._stirred.wait()
        self._stirred.clear()
