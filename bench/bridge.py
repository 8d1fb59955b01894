"""The daemon behind a bot, as people meet it: a process of its own, and Telegram's stand-in.

The stand-in and the model stay in the process that measures: neither takes time of the daemon's
loop, and whatever reaches either of them is stamped by one clock.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.child import Child, python
from bench.daemon import RUN
from bench.product import PATIENCE
from bench.stage import Stage
from tests.botapi import BotApi

LOOK_SECONDS = 0.02  # between two looks into the daemon's log
HOME = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    stage: Stage
    api: BotApi
    child: Child

    @property
    def cpu_seconds(self) -> float:
        """What the daemon has used so far; not its CLIs."""
        used = psutil.Process(self.child.pid).cpu_times()
        return float(used.user + used.system)

    async def given_at(self, name: str, after: float) -> float:
        """When the answer was written to that session's Claude; in seconds since 1970."""
        query = (
            "SELECT max(at) FROM events WHERE type = 'approval.delivered'"
            " AND session = (SELECT id FROM sessions WHERE name = ?)"
        )
        file = self.stage.sandbox.root / HOME / "log.db"
        async with asyncio.timeout(PATIENCE):
            with closing(sqlite3.connect(file)) as db:
                while True:
                    at = (db.execute(query, (name,)).fetchone()[0] or 0) / 1_000_000
                    if at > after:
                        return float(at)
                    await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def bridged(stage: Stage, people: Sequence[int], sessions: int) -> AsyncIterator[Bridge]:
    """With all of these people, by their Telegram ids, and room for so many sessions."""
    async with BotApi() as api:
        config = written(stage, api, people, sessions)
        home = str(stage.sandbox.root / HOME)
        command = ["-c", RUN, "run", "--home", home, "--config", str(config)]
        async with python(command, env=stage.sandbox.env, directory=stage.workdir) as child:
            await child.says("daemon.ready")
            async with child.unheard():
                yield Bridge(stage=stage, api=api, child=child)


def written(stage: Stage, api: BotApi, people: Sequence[int], sessions: int) -> Path:
    tables: list[tuple[str, dict[str, object]]] = [
        (
            "[sessions]",
            {
                "default_workdir": str(stage.workdir),
                "pass_env": list(stage.sandbox.env),
                "max_sessions": sessions,
            },
        ),
        (
            "[telegram]",
            {"token": api.token, "base_url": api.base_url, "base_file_url": api.base_file_url},
        ),
        *(
            ("[[people]]", {"name": f"person-{person}", "role": "admin", "telegram": person})
            for person in people
        ),
    ]
    file = stage.sandbox.root / "claude-sessions.toml"
    file.write_text("\n".join(f"{name}\n{table(values)}" for name, values in tables))
    return file


def table(values: dict[str, object]) -> str:
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in values.items()) + "\n"
