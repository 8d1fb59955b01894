"""What has to be done now and then, whatever happens: small chores, each at its own pace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from types import TracebackType
from typing import Self

import structlog

from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Status
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.manager import SessionManager

log = structlog.get_logger()

NOTE_SECONDS = 1.0
CHECK_SECONDS = 60.0
TIDY_SECONDS = 300.0
KEPT = timedelta(hours=1)  # in memory, after the last word


class Housekeeping:
    """Open it with `async with`, after the sessions."""

    def __init__(
        self,
        *,
        log: EventLog,
        book: SessionBook,
        manager: SessionManager,
        clock: Clock,
        max_persisted: int,
        continue_after_limit: bool,
    ) -> None:
        self._log = log
        self._book = book
        self._manager = manager
        self._clock = clock
        self._max_persisted = max_persisted
        self._continue_after_limit = continue_after_limit
        self._noted: dict[str, tuple[str, str]] = {}

    async def __aenter__(self) -> Self:
        self._group = await asyncio.TaskGroup().__aenter__()
        paces: list[tuple[float, Callable[[], Awaitable[None]]]] = [
            (NOTE_SECONDS, self.note_words),
            (CHECK_SECONDS, self.check_limits),
            (CHECK_SECONDS, self._manager.check_room),
            (TIDY_SECONDS, self.tidy),
        ]
        self._tasks = [
            self._group.create_task(self._every(seconds, chore), name=f"chore:{chore.__name__}")
            for seconds, chore in paces
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(None, None, None)

    async def _every(self, seconds: float, chore: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._clock.sleep(seconds)
            if self._log.trouble is not None:
                continue  # nothing can be stored at present, and people know
            try:
                await chore()
            except Exception:  # the next time may be better, and the other chores go on
                log.exception("chore.failed", chore=chore.__name__)

    async def note_words(self) -> None:
        """Words that are still coming are in no event yet: a crash must not lose them."""
        words = {
            delta.session: (delta.block, delta.text)
            for delta in self._log.open_deltas(None)
            if isinstance(delta, e.AssistantDelta)
        }
        if words != self._noted:
            await self._log.change(lambda store: store.note(words))
            self._noted = words

    async def check_limits(self) -> None:
        """Who was parked and need not be any longer goes on, or is offered to."""
        now = self._clock.now().timestamp()
        for row in await self._log.session_rows(statuses=(Status.PARKED,)):
            if row.resets_at is not None and row.resets_at <= now:
                await self._manager.unpark(row.id, go_on=self._continue_after_limit)

    async def tidy(self) -> None:
        """Memory is for those that are used; the index for as many as may be found by name."""
        live = {state.id for state in self._manager.live()}
        self._book.drop_unused(self._clock.now() - KEPT, but=live)
        trimmed = await self._log.change(lambda store: store.trim(self._max_persisted))
        for session_id in trimmed:
            self._book.drop(session_id)  # who finds it by its id brings it back to the index
        if trimmed:
            log.info("index.trimmed", sessions=len(trimmed))
