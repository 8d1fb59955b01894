"""`python -m bench [GROUP …]`: measure, print, and write it down.

A figure is worth something beside the baseline of its own run, so groups may be measured one by
one: what was not measured anew stays as it was, with its date.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from bench import (
    asleep,
    daemon,
    followup,
    gateway,
    launch,
    log,
    machine,
    pool,
    telegram,
    tokens,
    wake,
)
from bench.figure import Figure
from bench.measured import Measured, read, write
from bench.table import document, line, verdict
from claude_sessions import logs

RESULTS = Path(__file__).parent / "RESULTS.md"
KEPT = Path(__file__).parent / "results.json"

GROUPS: dict[str, Callable[[float], Awaitable[list[Figure]]]] = {
    "launch": launch.measure,
    "follow-up": followup.measure,
    "wake": wake.measure,
    "pool": pool.measure,
    "asleep": asleep.measure,
    "tokens": tokens.measure,
    "telegram": telegram.measure,
    "gateway": gateway.measure,
    "daemon": daemon.measure,
    "log": log.measure,
}


async def measure(groups: Sequence[str], scale: float) -> list[Measured]:
    found: list[Measured] = []
    for group in groups:
        began, figures = machine.load(), []
        for figure in await GROUPS[group](scale):
            figures.append(figure)
            sys.stdout.write(f"{line(figure)}\n")
            sys.stdout.flush()
        load = f"{began:.1f} → {machine.load():.1f}"
        found.append(Measured(group=group, figures=figures, date=machine.today(), load=load))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--scale", type=float, default=1.0, help="how many repeats; 0: the fewest")
    given = parser.parse_args()
    if unknown := [group for group in given.groups if group not in GROUPS]:
        parser.error(f"no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    logs.configure(level="warning", as_json=False)
    found = asyncio.run(measure(given.groups or list(GROUPS), given.scale))
    sys.stdout.write(f"{verdict([figure for each in found for figure in each.figures])}\n")
    if given.scale < 1:
        sys.stdout.write(f"{RESULTS.name} stays as it was: that takes all the repeats.\n")
        return
    kept = {each.group: each for each in [*read(KEPT), *found]}
    ordered = [kept[group] for group in GROUPS if group in kept]
    write(KEPT, ordered)
    RESULTS.write_text(document(ordered, asyncio.run(machine.facts())), encoding="utf-8")
    sys.stdout.write(f"Written to bench/{RESULTS.name}\n")


if __name__ == "__main__":
    main()
