"""The log: durable appends, replay as typed events, opening a long one."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figure import Figure
from bench.timing import interleaved, scaled
from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.storage import rows
from claude_sessions.storage.schema import prepare
from claude_sessions.storage.sqlite import Store

WRITERS = 20
STORED = 1_000_000
DISK = Path("/var/tmp")  # a disk also where /tmp is memory

# What a turn mostly consists of, in its usual sizes.
TURN: tuple[e.Payload, ...] = (
    e.UserMessage(message_id="m" * 36, text="Please look at this. " * 10),
    e.MessageSent(message_id="m" * 36),
    e.TurnStarted(message_ids=("m" * 36,)),
    e.AssistantMessage(text="I will read the file first. " * 15, block="msg_01:0", model="opus"),
    e.ToolRequested(tool_name="Read", tool_use_id="toolu_01", input={"file_path": "/srv/a.py"}),
    e.ToolOutput(tool_use_id="toolu_01", content="    return self._value\n" * 150),
    e.ToolCompleted(tool_use_id="toolu_01", duration_ms=12),
    e.TurnCompleted(cost_usd=0.0123, duration_ms=4321, context_tokens=20_000),
)


def drafts(session: str) -> Iterator[e.Draft]:
    return cycle(
        e.Draft(session=session, project="p" * 8, run="r" * 8, turn="t" * 8, payload=payload)
        for payload in TURN
    )


async def measure(scale: float) -> list[Figure]:
    with TemporaryDirectory(prefix="claude-sessions-bench-", dir=DISK) as directory:
        home = Path(directory)
        return [
            await appends(home, scale),
            *await replay(home, scale),
            await opening(home, scale),
        ]


async def appends(home: Path, scale: float) -> Figure:
    each = scaled(200, scale, least=20)

    async def ours(number: str) -> float:
        async with EventLog(home / f"ours-{number}.sqlite", runner="runner01") as log:

            async def write(session: str) -> None:
                for draft in islice(drafts(session), each):
                    await log.append(draft)

            begun = time.perf_counter()
            await asyncio.gather(*(write(f"session{n}") for n in range(WRITERS)))
            return each * WRITERS / (time.perf_counter() - begun)

    async def bare(number: str) -> float:
        table = same_rows(each)
        path = home / f"bare-{number}.sqlite"
        prepare(path).close()
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = FULL")  # as ours; in WAL mode it already is
            db.execute("PRAGMA wal_autocheckpoint = 4000")  # as ours
            begun = time.perf_counter()
            for start in range(0, len(table), WRITERS):
                db.execute("BEGIN")
                db.executemany(rows.INSERT, table[start : start + WRITERS])
                db.execute("COMMIT")
            return len(table) / (time.perf_counter() - begun)

    own, theirs = await interleaved(scaled(15, scale, least=3), ours, bare)
    value, baseline = statistics.median(own), statistics.median(theirs)
    return Figure(
        name=f"log: durable appends by {WRITERS} writers at once",
        value=value,
        unit="events/s",
        baseline=baseline,
        baseline_name=f"executemany of finished rows, {WRITERS} a commit",
        target="≥ 0.6 × baseline",
        met=value >= 0.6 * baseline,
    )


def same_rows(each: int) -> list[tuple[object, ...]]:
    """What the log's own file holds after `each` events by every writer."""
    now = datetime.now(UTC)
    sources = [drafts(f"session{n}") for n in range(WRITERS)]
    table: list[tuple[object, ...]] = []
    for place in range(each):
        facts = rows.to_facts([next(source) for source in sources], now, epoch="", runner="")
        table += [fact.put_at(len(table) + n, place + 1) for n, fact in enumerate(facts, 1)]
    return table


async def replay(home: Path, scale: float) -> list[Figure]:
    count = scaled(200_000, scale, least=20_000)
    path = home / "replay.sqlite"
    fill(path, count)

    async def follow(_: str) -> float:
        async with EventLog(path, runner="runner01") as log, log.follow(after=0) as feed:
            begun = time.perf_counter()
            async for item in feed:
                if isinstance(item, e.Event) and item.seq == count:
                    break
            return count / (time.perf_counter() - begun)

    async def fetch(_: str) -> float:
        with closing(sqlite3.connect(path)) as db:
            begun = time.perf_counter()
            for _row in db.execute(f"SELECT {rows.COLUMNS} FROM events ORDER BY seq"):
                pass
            return count / (time.perf_counter() - begun)

    own, theirs = await interleaved(scaled(7, scale, least=3), follow, fetch)
    value = statistics.median(own)
    return [
        Figure(
            name="log: history followed as typed events",
            value=value,
            unit="events/s",
            baseline=statistics.median(theirs),
            baseline_name="the bare rows",
            target="≥ 100,000/s",
            met=value >= 100_000,
        )
    ]


def fill(path: Path, count: int) -> None:
    """Quickly, and as the writer would have."""
    sources = [drafts(f"session{n}") for n in range(200)]
    now = datetime.now(UTC)
    with Store(path, runner="runner01") as store:
        for start in range(0, count, 10_000):
            size = min(10_000, count - start)
            facts = rows.to_facts(
                [next(source) for source in islice(cycle(sources), size)],
                now,
                epoch=store.epoch,
                runner=store.runner,
            )
            store.append([facts])


OPEN = """
import asyncio, sys, time
from pathlib import Path
from claude_sessions.eventlog import EventLog

async def main():
    begun = time.perf_counter()
    async with EventLog(Path(sys.argv[1]), runner="runner01") as log:
        print(time.perf_counter() - begun, log.head)

asyncio.run(main())
"""


async def opening(home: Path, scale: float) -> Figure:
    """Each in a process of its own, as a start is."""
    count = scaled(STORED, min(scale, 1.0), least=50_000)
    fill(home / "long.sqlite", count)
    fill(home / "empty.sqlite", 0)

    async def opened(name: str, wanted: int) -> float:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", OPEN, str(home / name), stdout=PIPE
        )
        said, _ = await process.communicate()
        seconds, head = said.split()
        assert int(head) == wanted
        return float(seconds)

    own, theirs = await interleaved(
        scaled(21, scale, least=5),
        lambda _: opened("long.sqlite", count),
        lambda _: opened("empty.sqlite", 0),
    )
    value, baseline = statistics.median(own) * 1000, statistics.median(theirs) * 1000
    return Figure(
        name=f"log: opening with {count:,} stored events",
        value=value,
        unit="ms",
        baseline=baseline,
        baseline_name="an empty log",
        target="≤ 1.2 × baseline",
        met=value <= 1.2 * baseline,
    )
