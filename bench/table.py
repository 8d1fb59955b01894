"""Figures as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.figure import Figure
from bench.measured import Measured

HEADER = ("figure", "value", "baseline, same run", "difference", "target", "met")
INTRODUCTION = """\
# Results

Written by `make bench`. Ours and the baseline take turns in one run of their group, so that the
noise of the machine hits both alike; times are medians unless the figure says otherwise. What
counts is the figure beside its baseline; the value alone is worth little on another machine.
"""


def document(measured: Sequence[Measured], machine: Mapping[str, str]) -> str:
    figures = [figure for each in measured for figure in each.figures]
    facts = [f"- {name}: {value}" for name, value in machine.items()]
    runs = [f"- {each.group}: {each.date}, load {each.load}" for each in measured]
    parts = (
        f"{INTRODUCTION}\n{markdown([row(figure) for figure in figures])}",
        verdict(figures),
        "\n".join(facts),
        "\n".join(["When, and how many wanted to run before and after:", "", *runs]),
    )
    return "\n\n".join(parts) + "\n"


def verdict(figures: Iterable[Figure]) -> str:
    judged = [figure for figure in figures if figure.met is not None]
    missed = [figure.name for figure in judged if not figure.met]
    if not missed:
        return f"All {len(judged)} targets are met."
    return f"**Missed, {len(missed)} of {len(judged)} targets:** {'; '.join(missed)}."


def markdown(rows: Iterable[Sequence[str]]) -> str:
    lines = [HEADER, ("---", "--:", "--:", "--:", "---", "---"), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def line(figure: Figure) -> str:
    """For a terminal."""
    name, value, baseline, difference, target, met = row(figure)
    judged = f"   target {target}: {met}" if target else ""
    beside = f"   beside {baseline}: {difference}" if baseline else ""
    return f"{name}: {value}{beside}{judged}"


def row(figure: Figure) -> tuple[str, ...]:
    value = amount(figure.value, figure.unit)
    met = {True: "yes", False: "NO", None: ""}[figure.met]
    if figure.baseline is None:
        return figure.name, value, "", "", figure.target, met
    baseline = f"{amount(figure.baseline, figure.unit)} ({figure.baseline_name})"
    return figure.name, value, baseline, difference(figure), figure.target, met


def difference(figure: Figure) -> str:
    assert figure.baseline is not None
    more = figure.value - figure.baseline
    times = f"{figure.value / figure.baseline:.2f} ×, " if figure.baseline > 0 else ""
    return f"{times}{'−' if more < 0 else '+'}{amount(abs(more), figure.unit)}"


def amount(value: float, unit: str) -> str:
    counted = float(value).is_integer()
    digits = 0 if counted or abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".strip()
