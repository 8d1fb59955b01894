"""From what people type to a time: a cron line, `in 2h`, `at 18:30`, `at 2026-12-01T09:00`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from tzlocal import get_localzone_name

from claude_sessions.approvals.visible import one_line
from claude_sessions.errors import BadRequest
from claude_sessions.schedules.cron import cron, moment

SPAN = re.compile(r"0*([1-9][0-9]{0,4})([mhd])", re.IGNORECASE | re.ASCII)
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
FARTHEST = timedelta(days=3660)
MINUTE = timedelta(minutes=1)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """Again and again, or once."""

    cron: str | None = None
    at: datetime | None = None

    def next(self, after: datetime, zone: ZoneInfo) -> datetime | None:
        """None: never again."""
        if self.cron is not None:
            return cron(self.cron).next(after, zone)
        return self.at if self.at is not None and self.at > after else None

    def latest(self, after: datetime, upto: datetime, zone: ZoneInfo) -> datetime | None:
        """The last time after one moment and not after another, however many there were."""
        found = self.next(after, zone)
        if found is None or found > upto:
            return None
        beyond = upto
        while beyond - found > MINUTE:  # two times are a minute apart, at the least
            middle = found + (beyond - found) / 2
            later = self.next(middle, zone)
            if later is None or later > upto:
                beyond = middle
            else:
                found = later
        later = self.next(found, zone)
        return later if later is not None and later <= upto else found


def understood(words: str, now: datetime, zone: ZoneInfo) -> When:
    """Raises BadRequest for what makes no sense, has passed or never comes."""
    head, _, rest = words.strip().partition(" ")
    match head.lower():
        case "in":
            return When(at=_ahead(now + _span(rest.strip()), now, zone))
        case "at":
            return When(at=_ahead(_moment(rest.strip(), now, zone), now, zone))
    when = When(cron=cron(words).line)
    if when.next(now, zone) is None:
        raise BadRequest(f"“{one_line(words, 40)}” never comes: there is no such day.")
    return when


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise BadRequest(
            f"“{one_line(name[:200], 40)}” is no time zone. Write one like Europe/Berlin."
        ) from None


def zone_here(configured: str | None) -> ZoneInfo:
    """The configured zone, else this machine's; a machine that cannot say counts in UTC."""
    try:
        return ZoneInfo(configured or get_localzone_name() or "UTC")
    except (ValueError, OSError, ZoneInfoNotFoundError) as problem:
        log.warning("schedules.zone_unknown", problem=str(problem), instead="UTC")
        return ZoneInfo("UTC")


def _span(word: str) -> timedelta:
    match = SPAN.fullmatch(word)
    if match is None:
        raise BadRequest(f"In how long? Say 30m, 2h or 1d, not “{one_line(word[:200], 40)}”.")
    return timedelta(**{UNITS[match[2].lower()]: int(match[1])})


def _moment(word: str, now: datetime, zone: ZoneInfo) -> datetime:
    if match := TIME.fullmatch(word):
        return _next_time(time(int(match[1]), int(match[2])), now, zone)
    try:
        given = datetime.fromisoformat(word)
        return given.astimezone(UTC) if given.tzinfo else moment(given, zone)
    except (ValueError, OverflowError):
        raise BadRequest(
            f"At what time? Say 18:30 or 2026-12-01T09:00, not “{one_line(word[:200], 40)}”."
        ) from None


def _next_time(wall: time, now: datetime, zone: ZoneInfo) -> datetime:
    today = now.astimezone(zone).date()
    first = moment(datetime.combine(today, wall), zone)
    return first if first > now else moment(datetime.combine(today + timedelta(days=1), wall), zone)


def _ahead(at: datetime, now: datetime, zone: ZoneInfo) -> datetime:
    if at <= now:
        there = at.astimezone(zone)
        raise BadRequest(f"{there:%Y-%m-%d %H:%M} has passed. Name a time to come.")
    if at - now > FARTHEST:
        raise BadRequest(f"{at:%Y-%m-%d} is too far away: ten years is the most.")
    return at
