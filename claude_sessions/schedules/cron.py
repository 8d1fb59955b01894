"""What a cron line means: five fields, as crontab(5) has them, in a time zone. Pure.

APScheduler finds the next match; weekdays, "day or weekday" and the two nights a year on which
clocks change are ours, since there it differs from cron.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger

from claude_sessions.approvals.visible import one_line
from claude_sessions.errors import BadRequest

NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")  # as cron counts: 0 and 7 are one
FIELD = re.compile(r"[0-9A-Za-z*,/-]{1,200}", re.ASCII)
PART = re.compile(r"(?:\*|(\w{1,3})(?:-(\w{1,3}))?)(?:/([0-9]{1,2}))?", re.ASCII)
SECOND = timedelta(seconds=1)
LONGEST_GAP = timedelta(hours=3)  # that clocks have ever been put forward by, and some more


class Cron:
    """`next` gives the first time after a moment. Raises BadRequest for what cron does not know."""

    def __init__(self, line: str) -> None:
        self.line = " ".join(line.split())
        fields = NAMED.get(self.line.lower(), self.line).lower().split()
        if len(fields) != 5 or not all(FIELD.fullmatch(field) for field in fields):
            raise _refusal(line, "it needs five fields")
        try:
            self._triggers = _triggers(*fields)
        except ValueError as problem:
            raise _refusal(line, str(problem)) from None
        self._every_hour = fields[1] == "*"

    def next(self, after: datetime, zone: ZoneInfo) -> datetime | None:
        """None: never.

        A time that the clocks jump over comes as much later; of one that comes twice, the first
        counts. Only what is meant for every hour follows the hours as they really pass.
        """
        best: datetime | None = None
        for wall in self._walls(_wall(after, zone) - _gap(after, zone)):
            if best is not None and wall > _wall(best, zone):
                break
            for at in _moments(wall, zone, really=self._every_hour):
                if at > after and (best is None or at < best):
                    best = at
        return best

    def _walls(self, after: datetime) -> Iterator[datetime]:
        """What a clock on the wall shows when it is time."""
        wall: datetime | None = after
        while wall is not None:
            start = (wall + SECOND).replace(tzinfo=UTC)
            found = [t.get_next_fire_time(None, start) for t in self._triggers]
            wall = min((f.replace(tzinfo=None) for f in found if f is not None), default=None)
            if wall is not None:
                yield wall


@lru_cache(maxsize=512)
def cron(line: str) -> Cron:
    return Cron(line)


def _triggers(minute: str, hour: str, day: str, month: str, weekday: str) -> list[CronTrigger]:
    """Two where cron means "on that day of the month or on that weekday"."""
    fields = {"minute": minute, "hour": hour, "month": month, "timezone": UTC}
    weekdays = _weekdays(weekday)
    if day.startswith("*") or weekday.startswith("*"):
        return [CronTrigger(day=day, day_of_week=weekdays, **fields)]
    return [CronTrigger(day=day, **fields), CronTrigger(day_of_week=weekdays, **fields)]


def _weekdays(field: str) -> str:
    """By name: APScheduler counts from Monday, cron from Sunday."""
    numbers = sorted({number for part in field.split(",") for number in _range(part)})
    return ",".join(dict.fromkeys(DAYS[number] for number in numbers))


def _range(part: str) -> range:
    match = PART.fullmatch(part)
    if match is None:
        raise ValueError(f"“{one_line(part, 20)}” is no weekday; use 0-7 or mon-sun")
    if match[1] is None:
        return range(0, 7, int(match[3] or 1))
    first = _number(match[1])
    last = _number(match[2]) if match[2] else 6 if match[3] else first
    if match[2] == "sun":
        last = 7
    if last < first:
        raise ValueError(f"“{part}” ends before it begins")
    return range(first, last + 1, int(match[3] or 1))


def _number(word: str) -> int:
    if word in DAYS:
        return DAYS.index(word)
    if word in tuple("01234567"):
        return int(word)
    raise ValueError(f"“{word}” is no weekday; use 0-7 or mon-sun")


def _wall(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _gap(moment: datetime, zone: ZoneInfo) -> timedelta:
    """How far back to look: what the wall showed earlier may come only now."""
    around = (moment - LONGEST_GAP, moment + LONGEST_GAP)
    before, after = (each.astimezone(zone).utcoffset() for each in around)
    return timedelta() if before == after else LONGEST_GAP


def _moments(wall: datetime, zone: ZoneInfo, *, really: bool) -> tuple[datetime, ...]:
    """`really`: each time the clock shows it, be it twice or never."""
    first = moment(wall, zone)
    if not really:
        return (first,)
    second = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return tuple(at for at in (first, second) if _wall(at, zone) == wall)


def moment(wall: datetime, zone: ZoneInfo) -> datetime:
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def _refusal(line: str, problem: str) -> BadRequest:
    return BadRequest(
        f"“{one_line(line[:200], 40)}” is no cron line: {one_line(problem, 120)}.\n"
        'Minute, hour, day, month, weekday, like "0 9 * * 1-5": at 9:00 from Monday to Friday.'
    )
