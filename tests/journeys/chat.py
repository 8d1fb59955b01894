"""A chat with the whole product: text in, text out, the real CLI in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claude_sessions.channel import Kind, MemoryChannel, Notification
from claude_sessions.clock import Clock, ManualClock
from claude_sessions.commands import Reply
from claude_sessions.config import make_home
from claude_sessions.daemon import Daemon, open_daemon
from claude_sessions.demo import Sandbox
from claude_sessions.errors import NotFound, SessionsError
from claude_sessions.model import Role, Status
from claude_sessions.people import Caller
from claude_sessions.settings import Settings
from claude_sessions.state import Pending, SessionState
from tests.waiting import eventually

PATIENCE = 20.0


@dataclass
class Chat:
    """Somebody at a channel of their own."""

    daemon: Daemon
    caller: Caller
    channel: MemoryChannel

    async def type(self, line: str) -> str:
        """What the chat answers, errors included: they are for people too."""
        try:
            return (await self.reply(line)).text
        except SessionsError as error:
            return str(error)

    async def reply(self, line: str) -> Reply:
        return await self.daemon.hear(line, self.caller)

    def somebody(self, role: Role, name: str = "guest") -> Chat:
        """Another person, at another channel."""
        channel = MemoryChannel(f"memory|{name}")
        self.daemon.router.attach(channel)
        caller = Caller(name=name, role=role, door="memory", channel=channel.id)
        return Chat(self.daemon, caller, channel)

    async def state(self, name: str) -> SessionState:
        return await self.daemon.book.find(name)

    async def until(self, name: str, holds: Callable[[SessionState], bool]) -> SessionState:
        async with asyncio.timeout(PATIENCE), self.daemon.log.follow() as feed:
            while True:
                try:
                    if holds(state := await self.state(name)):
                        return state
                except NotFound:
                    pass
                await anext(aiter(feed))

    async def later(
        self, clock: ManualClock, name: str, holds: Callable[[SessionState], bool]
    ) -> SessionState:
        """Minute by minute, until it does: a timer may be set a moment after what sets it."""
        id_ = (await self.state(name)).id
        book = self.daemon.book

        def does() -> bool:
            clock.advance(60)
            state = book.state(id_)
            return state is not None and holds(state)

        await eventually(does, PATIENCE)
        return await self.state(id_)

    async def idle(self, name: str) -> SessionState:
        return await self.until(
            name, lambda s: s.status is Status.RUNNING and s.turn is None and not s.queue
        )

    async def working(self, name: str) -> SessionState:
        return await self.until(name, lambda s: s.turn is not None)

    async def written_down(self, name: str) -> None:
        """Claude's own file has what the turn was begun with: it lags a little."""
        state = await self.until(name, lambda s: bool(s.taken))
        has_message = self.daemon.pool.transcripts.has_message
        await eventually(lambda: has_message(state.claude_id or "", state.taken[0].id), PATIENCE)

    async def ended(self, name: str) -> SessionState:
        return await self.until(name, lambda s: s.status.ended)

    async def asked(self, name: str) -> Pending:
        return (await self.until(name, lambda s: bool(s.pending))).pending[0]

    async def shown(self, holds: Callable[[Notification], bool]) -> Notification:
        """Waits for something on this person's screen."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for notification in self.channel.shown.values():
                    if holds(notification):
                        return notification
                await asyncio.sleep(0.01)

    async def shows(self, kind: Kind, text: str = "") -> Notification:
        return await self.shown(lambda n: n.kind is kind and text in n.text)

    async def until_sent(self, kind: Kind, count: int) -> None:
        await eventually(lambda: self.kinds().count(kind) >= count, PATIENCE)

    def kinds(self) -> list[Kind]:
        return [n.kind for n in self.channel.sent]


def settings_for(workdir: Path, **sessions: Any) -> Settings:
    # CLAUDE_* of the sandbox must reach the CLI, nothing else is there to pass
    given: dict[str, Any] = {"default_workdir": workdir, "pass_env": ("*",), **sessions}
    return Settings.model_validate({"sessions": given, "gateway": {"enabled": False}})


@asynccontextmanager
async def chatting(
    sandbox: Sandbox,
    workdir: Path,
    *,
    clock: Clock | None = None,
    settings: Settings | None = None,
) -> AsyncIterator[Chat]:
    home = make_home(sandbox.root / "state")
    settings = settings or settings_for(workdir)
    async with open_daemon(settings, home, environ=sandbox.env, clock=clock) as daemon:
        channel = MemoryChannel("memory|owner")
        daemon.router.attach(channel)
        caller = Caller(name="owner", role=Role.ADMIN, door="memory", channel=channel.id)
        yield Chat(daemon, caller, channel)
