"""Which processes we have started: one small file each, so that the next start can end what a
crash has left behind.

A file holds the process's start time: a pid that has gone to somebody else is left alone.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil
import structlog

from claude_sessions.engines.process import descendants, orphans, sweep

log = structlog.get_logger()

SAME = 0.05  # seconds; a start time is read from clock ticks


class Ledger:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def add(self, pid: int) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            began = psutil.Process(pid).create_time()
            self._directory.mkdir(mode=0o700, exist_ok=True)
            (self._directory / str(pid)).write_text(repr(began))

    def remove(self, pid: int) -> None:
        (self._directory / str(pid)).unlink(missing_ok=True)

    def sweep(self) -> list[int]:
        """End whatever is left, tools included; gives the pids of those that were still there."""
        ended = []
        for file in sorted(self._directory.glob("*")):
            with contextlib.suppress(ValueError):
                pid, began = int(file.name), float(file.read_text())
                if left := _left(pid, began):
                    log.warning("ledger.swept", pid=pid, processes=len(left))
                    sweep(left)
                    ended.append(pid)
            file.unlink(missing_ok=True)
        return ended


def _left(pid: int, began: float) -> set[psutil.Process]:
    """The process, if it is still the same, and all that it has started, whoever has it now."""
    found = orphans(pid, since=began)
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        if abs(process.create_time() - began) < SAME:
            found |= {process} | descendants(pid)
    return found
