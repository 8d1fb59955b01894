"""Time, money and lines in few characters."""

from __future__ import annotations

from datetime import datetime

MINUTE, HOUR, DAY = 60, 3600, 86400


def duration(seconds: float) -> str:
    """`42s`, `2m5s`, `3h10m`."""
    whole = max(int(seconds), 0)
    if whole >= HOUR:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE}m"
    return f"{whole // MINUTE}m{whole % MINUTE}s" if whole >= MINUTE else f"{whole}s"


def clock(seconds: float) -> str:
    """`0:42`, `12:40`, `1:02:03`."""
    whole = max(int(seconds), 0)
    minutes, rest = whole % HOUR // MINUTE, whole % MINUTE
    if whole >= HOUR:
        return f"{whole // HOUR}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}"


def span(seconds: float) -> str:
    """`42 s`, `5 min`, `3 h`, `2 d`: as coarse as one remembers it."""
    whole = max(int(seconds), 0)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min"
    return f"{whole // HOUR} h" if whole < 2 * DAY else f"{whole // DAY} d"


def since(then: datetime, now: datetime) -> float:
    return max((now - then).total_seconds(), 0.0)


def ago(then: datetime, now: datetime) -> str:
    seconds = since(then, now)
    return f"{span(seconds)} ago" if seconds >= 5 else "just now"


def moment(timestamp: float, now: datetime) -> str:
    """`14:05`, or `09:00 on 4 March` when that is not within a day; in this machine's zone."""
    at = datetime.fromtimestamp(timestamp).astimezone()
    near = abs((at - now).total_seconds()) < DAY
    return f"{at:%H:%M}" if near else f"{at:%H:%M on %-d %B}"


def money(usd: float) -> str:
    """`$5`, `$0.75`, `$0.0042`; never a sum that looks like nothing when it is not."""
    if usd == int(usd):
        return f"${int(usd):,}"
    if usd < 0.0001:
        return "<$0.0001"
    return f"${usd:,.2f}" if round(usd, 4) >= 0.01 else f"${usd:.4f}"


def ordinal(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def lines_changed(added: int, removed: int) -> str:
    return f"+{added:,} −{removed:,}"


def size(number: int) -> str:
    """`812 B`, `42 KB`, `1.2 MB`."""
    if number < 1000:
        return f"{number} B"
    if number < 1_000_000:
        return f"{number / 1000:.0f} KB"
    return f"{number / 1_000_000:.1f} MB"
