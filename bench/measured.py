"""The figures of a group, from one run of it, and where they are kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    group: str
    figures: list[Figure]
    date: str
    load: str  # of the machine, before and after


def read(file: Path) -> list[Measured]:
    if not file.exists():
        return []
    return [
        Measured(**{**each, "figures": [Figure(**figure) for figure in each["figures"]]})
        for each in json.loads(file.read_text(encoding="utf-8"))
    ]


def write(file: Path, measured: Sequence[Measured]) -> None:
    told = json.dumps([asdict(each) for each in measured], indent=1, ensure_ascii=False)
    file.write_text(f"{told}\n", encoding="utf-8")
