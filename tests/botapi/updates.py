"""The queue of updates: kept until acknowledged, for one reader at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .bell import Bell
from .messages import Json
from .refusals import bad_request, conflict

MOST_AT_ONCE = 100
FAR_AHEAD = 10
ONLY_IF_ASKED_FOR = frozenset({"chat_member", "message_reaction", "message_reaction_count"})


class Updates:
    def __init__(self, first_id: int) -> None:
        self._pending: dict[int, Json] = {}
        self._next_id = first_id
        self._allowed: Sequence[str] = ()
        self._reader: asyncio.Future[None] | None = None
        self._bell = Bell()

    def add(self, kind: str, contents: Json) -> int:
        update_id = self._next_id
        if not self._wanted(kind):
            return update_id
        self._next_id += 1
        self._pending[update_id] = {"update_id": update_id, kind: contents}
        self._bell.ring()
        return update_id

    def restart_ids(self, at: int) -> None:
        """As Telegram may after a week without updates."""
        self._next_id = at

    @property
    def pending(self) -> int:
        return len(self._pending)

    def forget(self) -> None:
        self._pending.clear()

    async def acknowledged(self, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            await self._bell.until(lambda: True if not self._pending else None)

    async def read(
        self, *, offset: int, limit: int, seconds: float, allowed: Sequence[str] | None
    ) -> list[Json]:
        if not 1 <= limit <= MOST_AT_ONCE:
            raise bad_request(f"limit is {limit}, values between 1 and 100 are accepted")
        if allowed is not None:
            self._allowed = allowed
        self._acknowledge(offset)
        return await self._poll(limit, seconds)

    async def _poll(self, limit: int, seconds: float) -> list[Json]:
        ended = self._take_over()
        try:
            async with asyncio.timeout(seconds):
                return await self._bell.until(lambda: self._due(ended, limit))
        except TimeoutError:
            return []
        finally:
            if self._reader is ended:
                self._reader = None

    def _take_over(self) -> asyncio.Future[None]:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
            self._bell.ring()
        self._reader = asyncio.get_running_loop().create_future()
        return self._reader

    def _due(self, ended: asyncio.Future[None], limit: int) -> list[Json] | None:
        if ended.done():
            raise conflict()
        return list(self._pending.values())[:limit] or None

    def _acknowledge(self, offset: int) -> None:
        """A negative offset counts from the end of the queue.

        One far ahead is of another sequence: Telegram begins at the head, and forgets nothing.
        """
        if offset > self._next_id + FAR_AHEAD:
            return
        ids = list(self._pending)
        gone = ids[:offset] if offset < 0 else [each for each in ids if each < offset]
        for update_id in gone:
            del self._pending[update_id]
        if gone:
            self._bell.ring()

    def _wanted(self, kind: str) -> bool:
        return kind in self._allowed if self._allowed else kind not in ONLY_IF_ASKED_FOR
