"""What `append` has returned for survives `kill -9`, and no batch survives in part."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from claude_sessions.events import AssistantMessage
from claude_sessions.storage.sqlite import Store

BATCH = 3
WRITERS = """
import asyncio, sys
from pathlib import Path
from tests.log.words import log_in, said

async def write(log, writer, size):
    for n in range(100_000):
        batch = [said(f"{writer}:{n}", f"s{writer}") for _ in range(size)]
        events = await log.append(*batch)
        print(events[-1].seq, flush=True)

async def main():
    async with log_in(Path(sys.argv[1])) as log:
        await asyncio.gather(*(write(log, writer, int(sys.argv[2])) for writer in range(5)))

asyncio.run(main())
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_process_loses_nothing_it_was_promised(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    process = subprocess.Popen(
        [sys.executable, "-c", WRITERS, str(tmp_path), str(BATCH)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    with process, process.stdout as lines:
        promised = [int(next(lines)) for _ in range(chance.randrange(1, 400))]
        os.kill(process.pid, signal.SIGKILL)
        promised += [int(line) for line in lines if line.endswith("\n")]
    assert process.returncode == -signal.SIGKILL

    with Store(tmp_path / "log.sqlite", runner="r") as store:
        events = store.events(limit=10**9)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len(events) >= max(promised)
    batches = Counter(
        event.payload.text for event in events if isinstance(event.payload, AssistantMessage)
    )
    assert set(batches.values()) == {BATCH}
