"""The daemon as the benchmarks run it, in their own process or in one of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from claude_sessions.config import make_home
from claude_sessions.daemon import Daemon, open_daemon
from claude_sessions.model import Role, Status
from claude_sessions.people import Caller
from claude_sessions.settings import GatewaySettings, SessionSettings, Settings

PATIENCE = 60.0  # seconds; a machine that is busy otherwise is slow, not stuck
CHANNEL = "bench|reader"
OWNER = Caller(name="owner", role=Role.ADMIN, door="bench", channel=CHANNEL)


@asynccontextmanager
async def daemon_in(
    root: Path, environ: Mapping[str, str], *, max_sessions: int = 50
) -> AsyncIterator[Daemon]:
    workdir = root / "work"
    workdir.mkdir(exist_ok=True)
    sessions = SessionSettings(default_workdir=workdir, pass_env=("*",), max_sessions=max_sessions)
    home = make_home(root / "state")
    settings = Settings(sessions=sessions, gateway=GatewaySettings(enabled=False))
    async with open_daemon(settings, home, environ=environ) as daemon:
        yield daemon


async def idle(daemon: Daemon, name: str) -> None:
    async with asyncio.timeout(PATIENCE), daemon.log.follow() as feed:
        while not await _is_idle(daemon, name):
            await anext(feed)


async def _is_idle(daemon: Daemon, name: str) -> bool:
    state = await daemon.book.find(name)
    if state.status.ended:
        raise RuntimeError(f"{name} has ended: {state.status}, {state.reason}")
    return state.status is Status.RUNNING and state.turn is None and not state.queue
