"""How the daemon stands: since when it runs, what it is made of, and what its doors report."""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from claude_sessions import __version__

PACKAGES = {"SDK": "claude-agent-sdk", "python-telegram-bot": "python-telegram-bot"}
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Of one door; `lines` are for a phone. `ok`: nothing there needs anybody."""

    name: str
    lines: tuple[str, ...]
    ok: bool = True
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Health:
    """`ask_cli` gives the version of the claude program, or None; it is asked once."""

    started: float  # monotonic
    max_sessions: int
    ask_cli: Callable[[], Awaitable[str | None]]
    doors: Sequence[Callable[[], Report]] = ()
    _cli: str | None = None

    def reports(self) -> list[Report]:
        return [door() for door in self.doors]

    async def versions(self) -> dict[str, str]:
        if self._cli is None:
            self._cli = await self.ask_cli()
        return {
            "claude-sessions": __version__,
            "Claude Code": self._cli or UNKNOWN,
            **{name: _installed(package) for name, package in PACKAGES.items()},
            "Python": platform.python_version(),
        }


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return UNKNOWN
