"""`python -m tests.chaos --seconds 300 --seed 1`: round after round, then the figures.

A violation is printed with its seed and the part of the log that it is about; the seed repeats what
was typed and killed, though not to the millisecond.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from random import SystemRandom

from claude_sessions import logs
from tests.chaos.figures import Figures
from tests.chaos.play import play


async def rounds(seconds: float, seed: int, steps: int) -> Figures:
    until, total = time.monotonic() + seconds, Figures()
    while time.monotonic() < until or not total.rounds:
        figures, found = await play(seed, steps)
        total.add(figures)
        _print(*found, f"seed {seed}: {figures.actions} actions, {figures.violations} violations")
        seed += 1
    return total


def _print(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="for how long")
    parser.add_argument("--seed", type=int, default=None, help="of the first round")
    parser.add_argument("--steps", type=int, default=70, help="commands in a round")
    given = parser.parse_args()
    logs.configure(level="error", as_json=False)
    seed = given.seed if given.seed is not None else SystemRandom().randrange(1_000_000)
    figures = asyncio.run(rounds(given.seconds, seed, given.steps))
    _print(*figures.lines())
    return 1 if figures.violations else 0


if __name__ == "__main__":
    sys.exit(main())
