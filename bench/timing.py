"""Ours and the baseline in turns, so that the noise of the machine hits both alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
Measure = Callable[[str], Awaitable[T]]

LONGEST_SECONDS = 60.0  # for one figure: on a busy machine there are fewer repeats, not more time
FEWEST = 3


async def interleaved(repeats: int, ours: Measure[T], bare: Measure[T]) -> tuple[list[T], list[T]]:
    """A B, B A, A B, …; each is given a number to tell its repeats apart.

    The first round only warms up: it is dropped, unless it is the only one.
    """
    own: list[T] = []
    theirs: list[T] = []
    until = time.monotonic() + LONGEST_SECONDS
    for n in range(repeats):
        if n >= FEWEST and time.monotonic() > until:
            break
        turns = [(own, ours), (theirs, bare)]
        for results, measure in turns if n % 2 == 0 else reversed(turns):
            results.append(await measure(f"{n:03}"))
    return own[1:] or own, theirs[1:] or theirs


def scaled(count: int, scale: float, *, least: int = 1) -> int:
    return max(least, round(count * scale))


def median_ms(seconds: Sequence[float]) -> float:
    return statistics.median(seconds) * 1000


def percentile_ms(seconds: Sequence[float], percent: int) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] * 1000
