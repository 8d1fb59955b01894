"""How many processes there may be at once, and how much memory they may hold."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import psutil

from claude_sessions.model import Activity
from claude_sessions.state import SessionState

MEGABYTE = 1024 * 1024


class Room:
    def __init__(self, *, max_sessions: int, memory_mb: int | None = None) -> None:
        self._max_sessions = max_sessions
        self._memory_mb = memory_mb

    async def lacks(self, live: Sequence[SessionState], pids: Sequence[int]) -> str | None:
        """Why there is no room for one more; None: there is."""
        if len(counted(live)) >= self._max_sessions:
            return f"Max sessions reached ({self._max_sessions})"
        if self._memory_mb is None or not pids:
            return None
        held = await asyncio.to_thread(megabytes, pids)
        if held + held / len(pids) <= self._memory_mb:  # the next will be like the others
            return None
        return f"The memory budget is used up ({held:,.0f} of {self._memory_mb:,} MB)"

    async def overfull(self, pids: Sequence[int]) -> bool:
        """Those there are have grown beyond the budget."""
        if self._memory_mb is None or not pids:
            return False
        return await asyncio.to_thread(megabytes, pids) > self._memory_mb


def counted(live: Sequence[SessionState]) -> list[SessionState]:
    """One that waits for a person takes nobody's place."""
    return [state for state in live if state.activity is not Activity.WAITING]


def megabytes(pids: Sequence[int]) -> float:
    """Held by these processes and all below them: Claude, its MCP servers, its tools."""
    return sum(_held(process) for pid in pids for process in _tree(pid)) / MEGABYTE


def _tree(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _held(process: psutil.Process) -> int:
    """Its share of what it shares: many CLIs have most of their code in common."""
    with contextlib.suppress(psutil.Error, OSError):
        full = process.memory_full_info()
        return int(getattr(full, "pss", 0) or full.rss)
    return 0
