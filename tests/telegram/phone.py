"""The whole product behind a bot: the real CLI, the real bot code, and Telegram's stand-in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claude_sessions.clock import Clock, SystemClock
from claude_sessions.config import make_home
from claude_sessions.daemon import Daemon, open_daemon
from claude_sessions.demo import Sandbox
from claude_sessions.settings import Settings
from claude_sessions.telegram.pressing import AT_ONCE
from tests.botapi import BotApi, Person

PATIENCE = 5.0
OWNER, VIEWER, PROMPTER, APPROVER = 1001, 1002, 1003, 1004


@dataclass
class Phone:
    daemon: Daemon
    api: BotApi
    owner: Person

    def viewer(self) -> Person:
        return self.api.person(VIEWER, "Vic")


def settings_for(api: BotApi, workdir: Path, **more: Any) -> Settings:
    telegram = {
        "token": api.token,
        "base_url": api.base_url,
        "base_file_url": api.base_file_url,
        "stream_interval_seconds": 0.2,
        **more.pop("telegram", {}),
    }
    people = [
        {"name": "owner", "role": "admin", "telegram": OWNER},
        {"name": "vic", "role": "viewer", "telegram": VIEWER},
        {"name": "pat", "role": "prompter", "telegram": PROMPTER},
        {"name": "pam", "role": "approver", "telegram": APPROVER},
    ]
    sessions = {"default_workdir": workdir, "pass_env": ("*",), **more.pop("sessions", {})}
    return Settings.model_validate(
        {
            "sessions": sessions,
            "telegram": telegram,
            "people": people,
            "gateway": {"enabled": False},
            **more,
        }
    )


class PatientClock(SystemClock):
    """A press is answered by what became of it, also where a busy machine takes its time."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(PATIENCE if seconds == AT_ONCE else seconds)


@asynccontextmanager
async def phone_of(
    sandbox: Sandbox, workdir: Path, api: BotApi, *, clock: Clock | None = None, **more: Any
) -> AsyncIterator[Phone]:
    home = make_home(sandbox.root / "state")
    settings = settings_for(api, workdir, **more)
    owner = api.person(OWNER, "Ada")
    clock = clock or PatientClock()
    async with open_daemon(settings, home, environ=sandbox.env, clock=clock) as daemon:
        yield Phone(daemon, api, owner)
