"""The gateway of a real daemon, asked as a program asks it: over a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from claude_sessions.channel import MemoryChannel
from claude_sessions.clock import Clock
from claude_sessions.config import make_home
from claude_sessions.daemon import Daemon, open_daemon
from claude_sessions.demo import Sandbox
from claude_sessions.model import Role
from claude_sessions.people import Caller
from claude_sessions.places import ADDRESS
from claude_sessions.settings import Settings
from claude_sessions.token_file import FILE
from tests.journeys.chat import Chat


class RpcError(Exception):
    def __init__(self, error: Mapping[str, Any]) -> None:
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Mapping[str, Any] = error.get("data", {})
        super().__init__(f"{self.code} {self.message}")


@dataclass(frozen=True, slots=True)
class Port:
    """`chat` types as the owner at another door of the same daemon."""

    daemon: Daemon
    chat: Chat
    home: Path
    url: str
    token: str
    http: httpx.AsyncClient

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def ws(self) -> str:
        return self.url.replace("http:", "ws:")

    async def call(self, method: str, *, token: str | None = None, **params: Any) -> Any:
        """The result of a call; `RpcError` if it is refused."""
        answer = await self.post(
            {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token
        )
        told = answer.json()
        assert told["id"] == 1
        if "error" in told:
            raise RpcError(told["error"])
        return told["result"]

    async def post(self, body: Any, token: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await self.http.post("/rpc", json=body, headers=headers)

    async def scoped(self, role: Role, *, days: float | None = None, name: str = "") -> str:
        made = await self.call(
            "claude-code.tokens.new", name=name or f"a {role}", role=role.value, days=days
        )
        return str(made["token"])


@asynccontextmanager
async def opened(
    sandbox: Sandbox, workdir: Path, *, clock: Clock | None = None, **more: Any
) -> AsyncIterator[Port]:
    """`more`: other sections of the settings; those of `gateway` and `sessions` are added to."""
    sessions = {"default_workdir": workdir, "pass_env": ("*",), **more.pop("sessions", {})}
    gateway = {"port": 0, **more.pop("gateway", {})}
    settings = Settings.model_validate({"sessions": sessions, "gateway": gateway, **more})
    home = make_home(sandbox.root / "state")
    async with open_daemon(settings, home, environ=sandbox.env, clock=clock) as daemon:
        channel = MemoryChannel("memory|owner")
        daemon.router.attach(channel)
        owner = Caller(name="owner", role=Role.ADMIN, door="memory", channel=channel.id)
        url, token = (home / ADDRESS).read_text().strip(), (home / FILE).read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as http:
            chat = Chat(daemon, owner, channel)
            yield Port(daemon, chat, home, url, token, http)
