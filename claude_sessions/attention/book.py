"""Each person's own quiet hours, kept as documents, beside those that are configured."""

from __future__ import annotations

from datetime import tzinfo

import structlog
from pydantic import BaseModel, field_validator

from claude_sessions import events as e
from claude_sessions.attention.quiet import QuietHours
from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.documents import Documents

OFF = "off"  # a person's own wish: it may ring at any hour, whatever is configured

logger = structlog.get_logger(__name__)


class PreferencesDocument(BaseModel):
    quiet_hours: str

    @field_validator("quiet_hours")
    @classmethod
    def _can_be_read(cls, value: str) -> str:
        return value if value == OFF else str(QuietHours.read(value))


class QuietBook:
    """A person's own win over the configured ones; the log has who changed theirs."""

    def __init__(
        self,
        documents: Documents,
        log: EventLog,
        *,
        configured: QuietHours | None,
        clock: Clock,
        zone: tzinfo,
    ) -> None:
        self.configured = configured
        self.zone = zone
        self._table = documents.table("preferences", PreferencesDocument)
        self._log = log
        self._clock = clock

    def own(self, person: str) -> str | None:
        """`22-7`, `off`, or None: the configured ones hold."""
        found = self._table.get(person)
        return found.quiet_hours if found else None

    def hours(self, person: str | None) -> QuietHours | None:
        """None asks for nobody in particular: a group."""
        own = self._own_or_none(person) if person is not None else None
        if own is None:
            return self.configured
        return None if own == OFF else QuietHours.read(own)

    def _own_or_none(self, person: str) -> str | None:
        try:
            return self.own(person)
        except SessionsError as problem:  # a mistake made by hand must not cost anybody a message
            logger.error("preferences.unreadable", problem=str(problem))
            return None

    def hold_now(self, person: str | None) -> bool:
        hours = self.hours(person)
        return hours is not None and hours.cover(self._clock.now(), self.zone)

    async def choose(self, person: str, hours: str | None, caller: str) -> None:
        """None: the configured ones again."""
        fact = e.QuietChanged(person=person, hours=hours or "")
        await self._log.append(e.Draft(payload=fact, caller=caller))
        if hours is None:
            self._table.remove(person)
        else:
            self._table.put(person, PreferencesDocument(quiet_hours=hours))
