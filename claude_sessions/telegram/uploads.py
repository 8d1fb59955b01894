"""Files that people have sent, and that the model could not take in itself: kept for a while."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

import structlog

from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog

KEPT_DAYS = 30
DAY = 86400.0

logger = structlog.get_logger(__name__)


class Uploads:
    def __init__(self, place: Path, *, log: EventLog, clock: Clock) -> None:
        self._place = place
        self._log = log
        self._clock = clock

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                await self.sweep()
            except (SessionsError, OSError) as error:  # tomorrow, then
                logger.warning("uploads.not_swept", why=str(error))
            await self._clock.sleep(DAY)

    async def sweep(self) -> None:
        """Those of a message that has still to be given to Claude stay, however old."""
        before = self._clock.now().timestamp() - KEPT_DAYS * DAY
        if not (old := await asyncio.to_thread(_older, self._place, before)):
            return
        queued = await self._queued()
        gone = [folder for folder in old if folder.name not in queued]
        for folder in gone:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        logger.info("uploads.swept", folders=len(gone))

    async def _queued(self) -> str:
        """All the words that wait: a folder is named in them."""
        words: list[str] = []
        for row in await self._log.session_rows():
            state = await self._log.state_at(row.id)
            words += [message.text for message in state.queue]
        return "\n".join(words)


def _older(place: Path, before: float) -> list[Path]:
    with suppress(FileNotFoundError):
        return [folder for folder in place.iterdir() if folder.stat().st_mtime < before]
    return []
