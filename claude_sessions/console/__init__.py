"""The terminal chat: the door that needs no account."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from claude_sessions.commands import Reply
from claude_sessions.console.channel import CONSOLE, ConsoleChannel
from claude_sessions.console.chat import ConsoleChat
from claude_sessions.console.screen import Screen

if TYPE_CHECKING:
    from claude_sessions.daemon import Daemon

__all__ = ["CONSOLE", "ConsoleChannel", "ConsoleChat", "Screen", "chat_at", "serve_console"]

GREETING = "/new and a prompt starts a session, /help lists the rest, /quit leaves."


async def serve_console(daemon: Daemon, *, greeting: str = GREETING) -> None:
    """The chat on this process's own terminal, until the person leaves."""
    caller = daemon.local_caller("terminal", CONSOLE)

    @asynccontextmanager
    async def attached(channel: ConsoleChannel) -> AsyncIterator[None]:
        daemon.router.attach(channel, caller=str(caller))
        try:
            yield
        finally:
            await daemon.router.detach(channel.id)

    await chat_at(
        sys.stdin.fileno(),
        sys.stdout.fileno(),
        attached=attached,
        hear=lambda text: daemon.hear(text, caller),
        missed=lambda text: daemon.missed(text, caller),
        busy=lambda: [state.name for state in daemon.manager.live() if state.turn],
        greeting=greeting,
    )


async def chat_at(
    stdin: int,
    stdout: int,
    *,
    attached: Callable[[ConsoleChannel], AbstractAsyncContextManager[None]],
    hear: Callable[[str], Awaitable[Reply]],
    busy: Callable[[], list[str]],
    missed: Callable[[str], Awaitable[Reply | None]] | None = None,
    greeting: str = "",
) -> None:
    """While `attached` is entered, the channel is sent what there is to read."""
    screen = Screen.on(stdout)
    channel = ConsoleChannel(screen)
    chat = ConsoleChat(
        channel=channel,
        screen=screen,
        stdin=stdin,
        hear=hear,
        busy=busy,
        missed=missed,
        greeting=greeting,
    )
    try:
        async with attached(channel):
            await screen.open()
            await chat.run()
    finally:
        await channel.close()
        await screen.close()
