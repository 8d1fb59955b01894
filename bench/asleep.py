"""A thousand sleeping sessions and a long log: until the daemon is ready, its weight, a listing."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench.daemon import IMPORTS, RUN, Start, started
from bench.figure import Figure
from bench.log import DISK
from bench.product import OWNER
from bench.sleepers import fill, sleepers
from bench.stage import Stage, staged
from bench.timing import interleaved, median_ms, scaled
from claude_sessions.config import make_home
from claude_sessions.storage.index import ROW

MORE_MS = 500
MORE_MB = 30
LIMIT = 3
SESSIONS = 1000
EVENTS = 1_000_000
HOME = "state"  # where the stage's own daemon has it, too
NOBODY = "state-of-nobody"


async def measure(scale: float = 1.0) -> list[Figure]:
    sessions = scaled(SESSIONS, min(scale, 1.0), least=50)
    events = scaled(EVENTS, min(scale, 1.0), least=2_000)
    async with staged(directory=DISK) as stage:
        file = make_home(stage.sandbox.root / HOME) / "log.db"
        await asyncio.to_thread(fill, file, sleepers(sessions, stage.workdir), events)
        asleep, imports = await interleaved(
            scaled(10, scale), lambda _: daemon(stage, HOME), lambda _: imported(stage)
        )
        held, empty = await interleaved(
            scaled(6, scale), lambda _: daemon(stage, HOME), lambda _: daemon(stage, NOBODY)
        )
        listed, read = await listings(stage, file, sessions, scaled(200, scale, least=3))
    return [
        ready_figure(asleep, imports, sessions, events),
        memory_figure(held, empty, sessions),
        listing_figure(listed, read, sessions),
    ]


async def daemon(stage: Stage, home: str) -> Start:
    place = str(stage.sandbox.root / home)
    return await started(stage, ["-c", RUN, "run", "--home", place], "daemon.ready")


async def imported(stage: Stage) -> Start:
    return await started(stage, ["-c", IMPORTS], "imports.ready")


async def listings(
    stage: Stage, file: Path, sessions: int, repeats: int
) -> tuple[list[float], list[float]]:
    """No directory is a repository here: what git takes is not ours to measure."""
    query = f"SELECT {ROW} FROM sessions ORDER BY updated_at DESC"
    async with stage.daemon() as daemon:
        with closing(sqlite3.connect(file)) as db:

            async def listed(_: str) -> float:
                began = time.perf_counter()
                reply = await daemon.hear("/sessions", OWNER)
                seconds = time.perf_counter() - began
                assert reply.data["total"] == sessions
                return seconds

            async def read(_: str) -> float:
                began = time.perf_counter()
                found = db.execute(query).fetchall()
                seconds = time.perf_counter() - began
                assert len(found) == sessions
                return seconds

            return await interleaved(repeats, listed, read)


def ready_figure(
    ours: Sequence[Start], imports: Sequence[Start], sessions: int, events: int
) -> Figure:
    value = median_ms([start.seconds for start in ours])
    baseline = median_ms([start.seconds for start in imports])
    return Figure(
        name=f"asleep: start to ready with {sessions:,} sessions and {events:,} events",
        value=value,
        unit="ms",
        baseline=baseline,
        baseline_name="its imports alone",
        target=f"≤ imports + {MORE_MS} ms",
        met=value <= baseline + MORE_MS,
    )


def memory_figure(ours: Sequence[Start], empty: Sequence[Start], sessions: int) -> Figure:
    value = statistics.median(start.megabytes for start in ours)
    baseline = statistics.median(start.megabytes for start in empty)
    return Figure(
        name=f"asleep: memory (RSS) of a daemon with {sessions:,} sessions",
        value=value,
        unit="MB",
        baseline=baseline,
        baseline_name="a daemon with none",
        target=f"≤ none + {MORE_MB} MB",
        met=value <= baseline + MORE_MB,
    )


def listing_figure(ours: Sequence[float], bare: Sequence[float], sessions: int) -> Figure:
    value, baseline = median_ms(ours), median_ms(bare)
    return Figure(
        name=f"asleep: listing {sessions:,} sessions",
        value=value,
        unit="ms",
        baseline=baseline,
        baseline_name="the bare SQL that reads their rows",
        target=f"≤ {LIMIT} × bare",
        met=value <= LIMIT * baseline,
    )
