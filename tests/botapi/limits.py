"""Flood control as Telegram publishes it: a second a message, twenty a minute, thirty in all."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    private_burst: int = 5
    private_per_second: float = 1.0
    group: int = 20
    group_seconds: float = 60.0
    overall: int = 30
    overall_seconds: float = 1.0


AS_PUBLISHED = Limits()


class Bucket:
    """So many at once, then so many a second."""

    def __init__(self, size: int, per_second: float, now: float) -> None:
        self._size = size
        self._per_second = per_second
        self._tokens = float(size)
        self._at = now

    def wait(self, now: float) -> float:
        gained = (now - self._at) * self._per_second
        self._tokens, self._at = min(self._size, self._tokens + gained), now
        # What a sleep of whole seconds gains may fall short of a token by a rounding.
        return 0.0 if self._tokens > 1 - 1e-6 else (1 - self._tokens) / self._per_second

    def take(self, now: float) -> None:
        self._tokens -= 1


class Window:
    """So many in any stretch of so many seconds."""

    def __init__(self, size: int, seconds: float) -> None:
        self._size = size
        self._seconds = seconds
        self._taken: deque[float] = deque()

    def wait(self, now: float) -> float:
        while self._taken and self._taken[0] <= now - self._seconds + 1e-6:
            self._taken.popleft()
        return 0.0 if len(self._taken) < self._size else self._taken[0] + self._seconds - now

    def take(self, now: float) -> None:
        self._taken.append(now)


class FloodControl:
    """Who asks too much is sent away for whole seconds, and asking meanwhile adds none."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._overall = Window(limits.overall, limits.overall_seconds)
        self._chats: dict[int, Bucket | Window] = {}
        self._banned: dict[int | None, float] = {}

    def retry_after(self, chat_id: int, *, private: bool) -> int | None:
        """None lets the request through, and counts it."""
        now = self._clock()
        if remaining := self._remaining(chat_id, now) or self._remaining(None, now):
            return remaining
        chat = self._chats.get(chat_id) or self._budget(chat_id, private=private, now=now)
        if wait := chat.wait(now):
            return self._ban(chat_id, now, wait)
        if wait := self._overall.wait(now):
            return self._ban(None, now, wait)
        chat.take(now)
        self._overall.take(now)
        return None

    def _budget(self, chat_id: int, *, private: bool, now: float) -> Bucket | Window:
        limits = self._limits
        if private:
            budget: Bucket | Window = Bucket(limits.private_burst, limits.private_per_second, now)
        else:
            budget = Window(limits.group, limits.group_seconds)
        self._chats[chat_id] = budget
        return budget

    def _ban(self, whom: int | None, now: float, wait: float) -> int:
        seconds = math.ceil(wait)
        self._banned[whom] = now + seconds
        return seconds

    def _remaining(self, whom: int | None, now: float) -> int | None:
        until = self._banned.get(whom)
        if until is None:
            return None
        if until <= now:
            del self._banned[whom]
            return None
        return math.ceil(until - now)
