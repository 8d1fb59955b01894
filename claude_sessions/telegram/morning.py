"""When somebody's quiet hours are over: one digest of what happened in them, and it rings."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

import structlog

from claude_sessions.attention.attention import Attention
from claude_sessions.attention.quiet import Night, QuietHours
from claude_sessions.clock import Clock
from claude_sessions.telegram import looks
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.people import People

LOOK_SECONDS = 60.0  # a sleeping machine's timers stand still, its clock does not: look again
MORNING = timedelta(hours=4)  # later than that, whoever comes back is told anyway

logger = structlog.get_logger(__name__)


class Morning:
    """Once a night: the letter's key has its date, so no restart repeats it."""

    def __init__(
        self, attention: Attention, outbox: Outbox, people: People, *, clock: Clock
    ) -> None:
        self._attention = attention
        self._outbox = outbox
        self._people = people
        self._clock = clock
        self._seen_to: dict[str, datetime] = {}  # person → the end of the night that was dealt with

    async def run(self) -> None:
        while True:
            await self._clock.sleep(self._rest(self._clock.now()))
            await self.look()

    async def look(self) -> None:
        """Whose night is over is told."""
        for name in self._people.names:
            try:
                await self._look_at(name)
            except Exception:
                logger.exception("telegram.no_digest", person=name)

    def _rest(self, now: datetime) -> float:
        ends = [
            hours.next_end(now, self._zone) - now
            for name in self._people.names
            if (hours := self._hours(name)) is not None
        ]
        seconds = min(ends).total_seconds() if ends else LOOK_SECONDS
        return min(max(seconds, 0.01), LOOK_SECONDS)

    async def _look_at(self, name: str) -> None:
        hours, known = self._hours(name), self._attention.presence.of(name)
        to = Address.of_channel(known.channel) if known and known.channel else None
        if hours is None or to is None:
            return
        now = self._clock.now()
        night = hours.last(now, self._zone)
        if self._seen_to.get(name) == night.ended or now - night.ended > MORNING:
            return
        await self._tell(name, to, night)
        self._seen_to[name] = night.ended

    async def _tell(self, name: str, to: Address, night: Night) -> None:
        key = f"morning:{night.ended.astimezone(self._zone):%Y-%m-%d %H:%M}"
        if not await self._outbox.has(to, key):
            digest = await self._attention.of_night(name, night)
            if digest is None:
                return
            content = looks.said(digest.text, digest.actions, ring=True)
            await self._outbox.put(to, key, content)
        self._attention.presence.told(name, night.ended.timestamp())

    def _hours(self, name: str) -> QuietHours | None:
        return self._attention.quiet.hours(name)

    @property
    def _zone(self) -> tzinfo:
        return self._attention.quiet.zone
