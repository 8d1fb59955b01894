"""The daemon at rest: until it is ready, and what it weighs."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.child import python
from bench.figure import Figure
from bench.stage import Stage, staged
from bench.timing import interleaved, median_ms, scaled

MORE_MS = 300
MORE_MB = 15
SESSION_MB = 0.3
SESSIONS = 10

RUN = "from claude_sessions.cli import main; main()"
IMPORTS = """
import signal, sys
import claude_sessions.cli, claude_sessions.hosting
sys.stderr.write("imports.ready\\n")
signal.pause()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    seconds: float
    megabytes: float


async def measure(scale: float = 1.0) -> list[Figure]:
    async with staged() as stage:
        ours, imports = await interleaved(
            scaled(10, scale),
            lambda n: started(stage, ["-c", RUN, "run", "--home", f"state-{n}"], "daemon.ready"),
            lambda n: started(stage, ["-c", IMPORTS], "imports.ready"),
        )
        # What the first session brings along once is shared: fewer would look heavier.
        sessions = SESSIONS if scale else 1
        held, bare = await asyncio.gather(
            weight_of_a_session(stage, "daemon", sessions),
            weight_of_a_session(stage, "bare", sessions),
        )
    return [
        ready_figure(ours, imports),
        memory_figure(ours, imports),
        session_figure(held, bare, sessions),
    ]


async def started(stage: Stage, arguments: Sequence[str], word: str) -> Start:
    began = time.monotonic()
    async with python(arguments, env=stage.sandbox.env, directory=stage.workdir) as child:
        await child.says(word)
        seconds = time.monotonic() - began
        return Start(seconds=seconds, megabytes=await child.megabytes())


async def weight_of_a_session(stage: Stage, kind: str, count: int) -> float:
    """Of the process that holds them; the CLIs are not counted."""
    arguments = ["-m", "bench.host", kind, str(stage.sandbox.root), str(stage.cli)]
    env, directory = stage.sandbox.env, stage.workdir
    async with python(arguments, env=env, directory=directory, told=True) as child:
        weights = []
        for wanted in (0, count):
            child.tell(str(wanted))
            await child.says(str(wanted))
            weights.append(await child.megabytes())
        return (weights[1] - weights[0]) / count


def ready_figure(ours: Sequence[Start], imports: Sequence[Start]) -> Figure:
    value = median_ms([start.seconds for start in ours])
    baseline = median_ms([start.seconds for start in imports])
    return Figure(
        name="daemon: start to ready",
        value=value,
        unit="ms",
        baseline=baseline,
        baseline_name="its imports alone",
        target=f"≤ imports + {MORE_MS} ms",
        met=value <= baseline + MORE_MS,
    )


def memory_figure(ours: Sequence[Start], imports: Sequence[Start]) -> Figure:
    value = statistics.median(start.megabytes for start in ours)
    baseline = statistics.median(start.megabytes for start in imports)
    return Figure(
        name="daemon: memory (RSS)",
        value=value,
        unit="MB",
        baseline=baseline,
        baseline_name="its imports alone",
        target=f"≤ imports + {MORE_MB} MB",
        met=value <= baseline + MORE_MB,
    )


def session_figure(held: float, bare: float, count: int) -> Figure:
    return Figure(
        name=f"daemon: memory for each of {count} running sessions",
        value=held,
        unit="MB",
        baseline=bare,
        baseline_name="bare SDK clients",
        target=f"≤ {SESSION_MB} MB",
        met=held <= SESSION_MB,
    )
