"""Who was here last, and up to where they know: one position a person, over all doors."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Self

import structlog

from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.presence import Position

AWAY_SECONDS = 3600.0  # whoever has not acted for so long was away
KEEP_SECONDS = 1.0

logger = structlog.get_logger(__name__)


class Presence:
    """Open it with `async with`, after the log. To act costs nothing: it is written down soon.

    Should that get lost, somebody is at most told again what they were told.
    """

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._known: dict[str, Position] = {}
        self._unkept: set[str] = set()
        self._moved = asyncio.Event()

    async def __aenter__(self) -> Self:
        found = await asyncio.to_thread(self._log.store.presences.all)
        self._known = {position.person: position for position in found}
        self._keeper = asyncio.create_task(self._keep_up(), name="presence")
        return self

    async def __aexit__(self, *failure: Any) -> None:
        self._keeper.cancel()
        await asyncio.wait([self._keeper])
        await self._keep()

    def of(self, person: str) -> Position | None:
        return self._known.get(person)

    def acts(self, person: str, channel: str | None) -> Position | None:
        """Where they were, if they have been away. `channel`: one that they alone read."""
        before = self._known.get(person)
        if before is None:
            self._move(self._here(person, channel))
            return None
        now, head = self._clock.now().timestamp(), self._log.head
        after = replace(before, seq=head, at=now, channel=channel or before.channel)
        away = now - before.at >= AWAY_SECONDS
        if away:
            after = replace(after, since_seq=before.seq, since_at=before.at)
        self._move(after)
        return before if away else None

    def told(self, person: str, at: float) -> None:
        """All there was up to now, at that moment."""
        if (known := self._known.get(person)) is not None and known.at < at:
            left = {"since_seq": known.seq, "since_at": known.at}
            self._move(replace(known, seq=self._log.head, at=at, **left))  # type: ignore[arg-type]

    def _here(self, person: str, channel: str | None) -> Position:
        now, head = self._clock.now().timestamp(), self._log.head
        return Position(
            person=person, seq=head, at=now, since_seq=head, since_at=now, channel=channel
        )

    def _move(self, position: Position) -> None:
        self._known[position.person] = position
        self._unkept.add(position.person)
        self._moved.set()

    async def _keep_up(self) -> None:
        while True:
            await self._moved.wait()
            self._moved.clear()
            await self._keep()
            await self._clock.sleep(KEEP_SECONDS)

    async def _keep(self) -> None:
        positions = [self._known[person] for person in self._unkept]
        self._unkept.clear()
        if not positions:
            return
        try:
            await self._log.change(lambda store: store.presences.keep(positions))
        except SessionsError as problem:  # no room; with the next move it is tried again
            self._unkept |= {position.person for position in positions}
            logger.warning("presence.not_kept", why=str(problem))
