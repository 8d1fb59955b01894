"""Hours in which nothing rings: from 22 to 7, as a clock on the wall has them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Self

HOURS = re.compile(r"\s*(\d{1,2})(?::(\d\d))?\s*[-–]\s*(\d{1,2})(?::(\d\d))?\s*", re.ASCII)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """Quiet hours that are over."""

    began: datetime
    ended: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    start: time
    end: time

    @classmethod
    def read(cls, words: str) -> Self:
        """`22-7`, `22:30-6:45`. Raises ValueError, with what to write instead."""
        match = HOURS.fullmatch(words)
        try:
            if match is None:
                raise ValueError
            start, end = _time(match[1], match[2]), _time(match[3], match[4])
        except ValueError:
            raise ValueError("not hours; write them like 22-7") from None
        if start == end:
            raise ValueError("they begin when they end; write them like 22-7, or off")
        return cls(start=start, end=end)

    def cover(self, at: datetime, zone: tzinfo) -> bool:
        wall = at.astimezone(zone).time()
        if self.start < self.end:
            return self.start <= wall < self.end
        return wall >= self.start or wall < self.end

    def last(self, now: datetime, zone: tzinfo) -> Night:
        """The last that are over: they ended now, or before."""
        day = now.astimezone(zone).date()
        if (ended := _moment(datetime.combine(day, self.end), zone)) > now:
            day -= DAY
            ended = _moment(datetime.combine(day, self.end), zone)
        evening = day if self.start < self.end else day - DAY
        return Night(began=_moment(datetime.combine(evening, self.start), zone), ended=ended)

    def next_end(self, now: datetime, zone: tzinfo) -> datetime:
        day = now.astimezone(zone).date()
        ends = (_moment(datetime.combine(day + n * DAY, self.end), zone) for n in range(3))
        return next(end for end in ends if end > now)

    def __str__(self) -> str:
        return f"{_shown(self.start)}-{_shown(self.end)}"

    @property
    def words(self) -> str:
        return f"from {_shown(self.start)} to {_shown(self.end)}"


def _time(hour: str, minute: str | None) -> time:
    return time(int(hour), int(minute or 0))


def _shown(at: time) -> str:
    return f"{at:%-H:%M}" if at.minute else f"{at.hour}"


def _moment(wall: datetime, zone: tzinfo) -> datetime:
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
