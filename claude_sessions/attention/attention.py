"""Attention that respects people: what they missed, told once, at whatever door they come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from claude_sessions.attention.book import QuietBook
from claude_sessions.attention.digest import (
    Line,
    Meanwhile,
    Skipped,
    actions_of,
    composed,
    is_news,
    lines_of,
    tallied,
)
from claude_sessions.attention.presence import Presence
from claude_sessions.attention.quiet import Night
from claude_sessions.clock import Clock
from claude_sessions.commands import Reply
from claude_sessions.commands.figures import DAY, since, span
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.people import Caller
from claude_sessions.schedules.book import ScheduleBook
from claude_sessions.state import SessionState

COUNTED = 2000  # turns at the most, the newest
SESSIONS = 200

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """`key`: the same absence has the same."""

    reply: Reply
    key: str
    channel: str | None  # where that person alone reads


class Attention:
    """`live` gives the sessions that have a process. Whatever the gap, reading is bounded."""

    def __init__(
        self,
        *,
        presence: Presence,
        quiet: QuietBook,
        log: EventLog,
        live: Callable[[], Sequence[SessionState]],
        schedules: ScheduleBook,
        clock: Clock,
    ) -> None:
        self.presence = presence
        self.quiet = quiet
        self._log = log
        self._live = live
        self._schedules = schedules
        self._clock = clock

    async def missed(
        self, caller: Caller, *, alone: str | None = None, but: Collection[str] = ()
    ) -> Missed | None:
        """They act: what happened while they were away, if they were, and something did.

        `alone`: a channel that only they read. `but`: sessions whose news they have before them.
        """
        if caller.agent:
            return None
        before = self.presence.acts(caller.name, alone)
        if before is None or before.seq == self._log.head:
            return None
        left, now = _moment(before.at), self._clock.now()
        meanwhile, lines = await self._since(before.seq, left)
        if not is_news(lines, after=left, but=but):
            return None
        heading = f"While you were away ({span(since(left, now))})"
        known = self.presence.of(caller.name)
        return Missed(
            reply=_reply(heading, meanwhile, lines),
            key=f"missed:{before.seq}",
            channel=known.channel if known else None,
        )

    async def digest(self, person: str) -> Reply:
        """What happened since they were last away; all of it again, if they were told."""
        known = self.presence.of(person)
        left = _moment(known.since_at) if known else self._clock.now()
        seq = known.since_seq if known else self._log.head
        return _reply(self._from(left), *await self._since(seq, left))

    async def of_night(self, person: str, night: Night) -> Reply | None:
        """None: they know already, or nothing worth telling happened in the quiet hours."""
        known = self.presence.of(person)
        if known is None or _moment(known.at) >= night.ended:
            return None
        left = _moment(known.at)
        meanwhile, lines = await self._since(known.seq, left)
        if not is_news(lines, after=max(left, night.began), upto=night.ended):
            return None
        return _reply(f"☀️ {self._from(left)}", meanwhile, lines)

    def _from(self, left: datetime) -> str:
        """`Since 21:14`, or `Since 21:14 on 4 March`."""
        wall, away = left.astimezone(self.quiet.zone), since(left, self._clock.now())
        return f"Since {wall:%H:%M}" if away < DAY else f"Since {wall:%H:%M on %-d %B}"

    async def _since(self, seq: int, left: datetime) -> tuple[Meanwhile, list[Line]]:
        store = self._log.store
        ended = await asyncio.to_thread(store.turns_since, seq, COUNTED)
        turns = tallied(ended)
        live = {state.id: state for state in self._live()}
        ids = [session for session in turns if session not in live][-SESSIONS:]
        rows = await asyncio.to_thread(store.stirred, seq, ids, SESSIONS)
        meanwhile = Meanwhile(
            sessions=[*live.values(), *(row for row in rows if row.id not in live)],
            turns=turns,
            skipped=self._skipped(left),
            many=len(ended) == COUNTED,
        )
        return meanwhile, lines_of(meanwhile, left, self._clock.now())

    def _skipped(self, left: datetime) -> list[Skipped]:
        try:
            schedules = self._schedules.all()
        except SessionsError as problem:  # somebody edits them by hand: no reason to say nothing
            logger.error("schedules.unreadable", problem=str(problem))
            return []
        return [
            Skipped(name=each.label, reason=each.last_problem, at=each.last_due)
            for each in schedules
            if each.last_problem and each.last_due is not None and each.last_due > left
        ]


def _reply(heading: str, meanwhile: Meanwhile, lines: Sequence[Line]) -> Reply:
    data = {"sessions": [line.session for line in lines if line.session is not None]}
    return Reply(text=composed(heading, meanwhile, lines), actions=actions_of(lines), data=data)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
