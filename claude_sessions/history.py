"""Looking things up in the log's file, without blocking the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from claude_sessions.errors import NotFound
from claude_sessions.events import Event
from claude_sessions.model import Status
from claude_sessions.state import SessionState, absorb
from claude_sessions.storage.figures import Sums
from claude_sessions.storage.index import SessionRow
from claude_sessions.storage.sqlite import Store

PAGE = 512


class History:
    """The file may already hold events that live readers are about to be given."""

    store: Store  # the same questions without `await`: for one cheap row

    async def events(
        self,
        session: str | None = None,
        *,
        after: int = 0,
        upto: int | None = None,
        limit: int = PAGE,
        types: Collection[str] | None = None,
    ) -> list[Event]:
        return await asyncio.to_thread(
            self.store.events, after=after, upto=upto, session=session, limit=limit, types=types
        )

    async def tail_of(
        self, session: str, types: list[str] | tuple[str, ...], n: int
    ) -> list[Event]:
        """The last `n` events of these types, oldest first."""
        return await asyncio.to_thread(self.store.tail_of, session, types, n)

    async def seq_of(
        self, session: str, *, nth: int | None = None, event: str | None = None
    ) -> int | None:
        """Where in the log the session's nth event is, from 1, or the one with this id."""
        return await asyncio.to_thread(self.store.seq_of, session, nth, event)

    async def sums(self) -> Sums:
        """Of all runs and all money there ever was."""
        return await asyncio.to_thread(self.store.sums)

    async def session_row(self, ref: str) -> SessionRow | None:
        """By id, else by name in any case, else by a Claude id it has had."""
        return await asyncio.to_thread(self.store.session_row, ref)

    async def session_rows(
        self,
        *,
        statuses: Collection[Status] | None = None,
        identified: bool = False,
        origin: str | None = None,
        limit: int = -1,
    ) -> list[SessionRow]:
        """The one touched last comes first. `identified`: only those with a conversation."""
        return await asyncio.to_thread(
            self.store.session_rows,
            statuses=statuses,
            identified=identified,
            origin=origin,
            limit=limit,
        )

    async def sessions_like(self, part: str, limit: int) -> list[SessionRow]:
        """Those with this in their name; the one touched last comes first."""
        return await asyncio.to_thread(self.store.like, part, limit)

    async def session_count(
        self,
        *,
        statuses: Collection[Status] | None = None,
        identified: bool = False,
        origin: str | None = None,
    ) -> int:
        return await asyncio.to_thread(
            self.store.session_count, statuses=statuses, identified=identified, origin=origin
        )

    async def state_at(self, session: str, seq: int | None = None) -> SessionState:
        """The session as it was right after the event `seq`; None: after its last."""
        state = await asyncio.to_thread(self._fold, session, seq)
        if state is None:
            raise NotFound(f"There is no session {session!r} at that place in the log.")
        return state

    def _fold(self, session: str, upto: int | None) -> SessionState | None:
        state: SessionState | None = None
        after = 0
        while page := self.store.events(after=after, limit=PAGE, session=session, upto=upto):
            for event in page:
                state = absorb(state, event)
            after = page[-1].seq
        return state
