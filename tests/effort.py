"""How much work something is, beside work that is known: no clock decides a test."""

from __future__ import annotations

import time
from collections.abc import Callable


def effort(act: Callable[[], object]) -> float:
    """In millions of steps of a plain loop, as fast as this machine does them now."""
    before = _took(_a_million_steps)
    took = _took(act)
    return 2 * took / (before + _took(_a_million_steps))


def _took(act: Callable[[], object]) -> float:
    began = time.thread_time()
    act()
    return time.thread_time() - began


def _a_million_steps() -> None:
    steps = 0
    while steps < 1_000_000:
        steps += 1
