"""The guided tour: what a person would type, and what they would wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from claude_sessions.daemon import Daemon
from claude_sessions.errors import NotFound
from claude_sessions.model import Status
from claude_sessions.state import Pending, SessionState

PATIENCE = 30.0
Type = Callable[[str], Awaitable[None]]


class Tour:
    """`type_` shows a line as if typed, carries it out and shows the reply.

    `elsewhere` does the same with words for `claude-sessions`, as if in another terminal.
    """

    def __init__(self, daemon: Daemon, type_: Type, narrate: Type, elsewhere: Type) -> None:
        self._daemon = daemon
        self._type = type_
        self._narrate = narrate
        self._elsewhere = elsewhere

    async def walk(self) -> None:
        await self._narrate("Two sessions, side by side; the first one in the foreground.")
        await self._type("/new --fg --name fix-auth --dir web Users are logged out after refresh")
        await self._type("/new --name shop-page --dir web Put the opening hours on the page")

        await self._narrate("It wants to change a file: allowed.")
        await self._type(f"/allow {(await self._asks('fix-auth', 'Edit')).id}")

        await self._narrate("It wants to publish: denied, and told why.")
        await self._type(f"/deny {(await self._asks('fix-auth', 'Bash')).id} Not before the tests")
        await self._idle("fix-auth")

        await self._narrate("The other one has a question.")
        await self._type(f"/answer {(await self._asks('shop-page', 'AskUserQuestion')).id} 1")
        write = await self._asks("shop-page", "Write")

        await self._narrate("The same daemon from another terminal: any door, one truth.")
        await self._elsewhere("ls")
        await self._elsewhere(f"approve {write.id}")
        await self._idle("shop-page")

        await self._narrate("A follow-up goes to the session in the foreground.")
        await self._type("also add tests")
        await self._idle("fix-auth")
        await self._type("/sessions")

        await self._narrate("One is ended, and picked up again by its name.")
        await self._type("/kill fix-auth")
        await self._type("/resume fix-auth")
        await self._idle("fix-auth")
        await self._type("/stats")

    async def _asks(self, name: str, tool: str) -> Pending:
        state = await self._until(name, lambda s: any(p.tool_name == tool for p in s.pending))
        return next(p for p in state.pending if p.tool_name == tool)

    async def _idle(self, name: str) -> None:
        await self._until(
            name, lambda s: s.status is Status.RUNNING and s.turn is None and not s.queue
        )

    async def _until(self, name: str, holds: Callable[[SessionState], bool]) -> SessionState:
        """Watches the log, so that nothing is polled."""
        async with asyncio.timeout(PATIENCE), self._daemon.log.follow() as feed:
            if (state := await self._state(name)) is not None and holds(state):
                return state
            async for _ in feed:
                if (state := await self._state(name)) is not None and holds(state):
                    return state
        raise TimeoutError(name)

    async def _state(self, name: str) -> SessionState | None:
        try:
            return await self._daemon.book.find(name)
        except NotFound:
            return None
