"""One measured number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """`baseline` is from the same run; `met` is None where there is nothing to meet."""

    name: str
    value: float
    unit: str
    baseline: float | None
    baseline_name: str
    target: str
    met: bool | None
