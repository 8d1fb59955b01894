"""What every dialect needs, once somebody has been let in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from claude_sessions import commands as c
from claude_sessions.clock import Clock
from claude_sessions.commands.execute import execute
from claude_sessions.commands.hearing import hear
from claude_sessions.commands.pool import Pool
from claude_sessions.eventlog import EventLog
from claude_sessions.gateway.listing import Listing
from claude_sessions.gateway.metrics import Meter
from claude_sessions.gateway.runtime_cast import Broadcast
from claude_sessions.gateway.visits import Visits
from claude_sessions.gateway.wire import Shared, as_json
from claude_sessions.people import Caller
from claude_sessions.router import NotificationRouter
from claude_sessions.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    settings: Settings
    pool: Pool
    router: NotificationRouter
    visits: Visits
    listing: Listing
    meter: Meter
    runtime: Broadcast
    lasting: list[Callable[[], AbstractAsyncContextManager[None]]] = field(default_factory=list)
    events: Shared = field(default_factory=lambda: Shared(as_json))

    @property
    def log(self) -> EventLog:
        return self.pool.log

    @property
    def clock(self) -> Clock:
        return self.pool.clock

    async def perform(self, command: c.Command, caller: Caller) -> c.Reply:
        return await execute(self.pool, command, caller)

    async def hear(self, line: str, caller: Caller) -> c.Reply:
        """As it is typed in a chat."""
        return await hear(self.pool, line, caller)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """What has to live as long as the gateway is open: `lasting`, whoever put it there."""
        stop = self.log.observe(self.meter.see)
        try:
            async with AsyncExitStack() as stack:
                for work in (self.runtime.open, *self.lasting):
                    await stack.enter_async_context(work())
                yield
        finally:
            stop()
