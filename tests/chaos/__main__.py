"""`python -m tests.chaos --seconds 300 --seed 1`: round after round; what it finds is printed."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from random import SystemRandom

from claude_sessions import logs
from claude_sessions.demo import Sandbox, ScriptedModel
from tests.chaos.checks import violations
from tests.chaos.excerpt import excerpt
from tests.chaos.figures import Figures
from tests.chaos.round import Round
from tests.chaos.story import story


async def one_round(seed: int, steps: int) -> tuple[Figures, list[str]]:
    """Its figures, and what it found with an excerpt of the log."""
    with tempfile.TemporaryDirectory(prefix="cs-") as root:
        async with ScriptedModel(story()) as model:
            played = Round(seed, model, Sandbox(Path(root), model.url))
            evidence = await played.run(steps)
        found = violations(evidence)
        played.figures.violations += len(found)
        return played.figures, [*found, *excerpt(evidence, found)] if found else []


async def rounds(seconds: float, seed: int, steps: int) -> Figures:
    until, total = time.monotonic() + seconds, Figures()
    while time.monotonic() < until or not total.rounds:
        figures, found = await one_round(seed, steps)
        total.add(figures)
        if found:
            _print(f"Seed {seed}:", *found)
        _print(f"seed {seed}: {figures.actions} actions, {figures.violations} violations")
        seed += 1
    return total


def _print(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="for how long")
    parser.add_argument("--seed", type=int, default=None, help="of the first round")
    parser.add_argument("--steps", type=int, default=60, help="commands in a round")
    given = parser.parse_args()
    logs.configure(level="error", as_json=False)
    seed = given.seed if given.seed is not None else SystemRandom().randrange(1_000_000)
    figures = asyncio.run(rounds(given.seconds, seed, given.steps))
    _print(*figures.lines())
    return 1 if figures.violations else 0


if __name__ == "__main__":
    sys.exit(main())
