"""Who is killed, and when: by chance, but mostly just after something has happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from random import Random

import psutil

from claude_sessions.demo import Ending, ScriptedModel
from tests.chaos.daemon import MortalDaemon
from tests.chaos.figures import Figures
from tests.waiting import eventually

KINDS = ("daemon", "daemon", "cli", "cli", "cli", "stop", "both", "twice")
AMBUSH_SECONDS = 1.0
LATER = (0.0, 0.0, 0.002, 0.01, 0.03, 0.1)


class Faults:
    def __init__(
        self, daemon: MortalDaemon, model: ScriptedModel, chance: Random, figures: Figures
    ) -> None:
        self._daemon = daemon
        self._model = model
        self._chance = chance
        self._figures = figures

    async def strike(self) -> None:
        """Afterwards there is a daemon again."""
        await self._ambush()
        kind = self._chance.choice(KINDS)
        if kind in ("cli", "both"):
            self._kill_cli()
        if kind == "cli":
            return
        if kind == "stop":
            self._figures.stops += 1
            await self._daemon.stop()
        else:
            await self._kill_daemon()
        if kind == "twice":  # the second time while it finds out what the first one cut off
            await self._daemon.start(wait=False)
            await asyncio.sleep(self._chance.uniform(0.3, 1.2))
            await self._kill_daemon()
        await self._daemon.start()

    async def _ambush(self) -> None:
        """What is lost is lost between two steps: so wait for a first one, if not for long."""
        mark = self._chance.choice((None, *self._marks()))
        if mark is not None:
            before = mark()
            with suppress(TimeoutError):
                await eventually(lambda: mark() != before, AMBUSH_SECONDS)
        await asyncio.sleep(self._chance.choice(LATER))

    def _marks(self) -> tuple[Callable[[], object], ...]:
        requests, daemon = self._model.requests, self._daemon
        return (
            lambda: len(requests),
            lambda: sum(request.fate.ending is not Ending.OPEN for request in requests),
            lambda: len(daemon.now.shown),
            lambda: sorted(program.pid for program in daemon.programs()),
        )

    async def _kill_daemon(self) -> None:
        self._figures.daemons_killed += 1
        await self._daemon.kill()

    def _kill_cli(self) -> None:
        programs = sorted(self._daemon.programs(), key=lambda program: program.pid)
        if programs:
            with suppress(psutil.NoSuchProcess):
                self._chance.choice(programs).kill()
                self._figures.clis_killed += 1
