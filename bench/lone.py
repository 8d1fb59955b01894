"""Bare SDK clients in a process of their own: they share no loop with what else is measured.

`python -m bench.lone ROOT CLI COUNT` reads orders to one of them, and answers each in one line:

    N say WORD     →  said WORD BEGAN FIRST    when it was given, when its first words came
    N ask WORD     →  asks WORD                Claude wants to use a tool
    N allow WORD   →  gave WORD SECONDS        until the answer was written to Claude

Times are of the monotonic clock, which all processes share. The end of stdin ends it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeSDKClient,
    PermissionResultAllow,
    StreamEvent,
    ToolPermissionContext,
)
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

from bench import bare
from bench.orders import orders, report
from bench.product import PATIENCE
from claude_sessions import logs


class Pipe(SubprocessCLITransport):
    """The SDK's own, that says when an answer has been written."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.answered_at: asyncio.Future[float]

    async def write(self, data: str) -> None:
        await super().write(data)
        if '"control_response"' in data[:64]:
            self.answered_at.set_result(time.monotonic())


class Lone:
    def __init__(self, cli: Path, workdir: Path) -> None:
        self._options = replace(bare.options(cli, workdir), can_use_tool=self._may)
        asked_here = replace(self._options, permission_prompt_tool_name="stdio")
        self._pipe = Pipe(prompt=_nothing(), options=asked_here)
        self._client = ClaudeSDKClient(self._options, transport=self._pipe)
        self._asked: asyncio.Future[None]
        self._allowed: asyncio.Future[None]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._client.connect()
            yield
        finally:
            await self._client.disconnect()

    async def _may(
        self, tool_name: str, given: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow:
        self._asked.set_result(None)
        await self._allowed
        return PermissionResultAllow(updated_input=given)

    async def say(self, word: str) -> str:
        began = time.monotonic()
        await self._client.query(word)
        return f"said {word} {began} {await self._first_words()}"

    async def ask(self, word: str) -> str:
        loop = asyncio.get_running_loop()
        self._asked, self._allowed = loop.create_future(), loop.create_future()
        self._pipe.answered_at = loop.create_future()
        await self._client.query(word)
        async with asyncio.timeout(PATIENCE):
            await self._asked
        return f"asks {word}"

    async def allow(self, word: str) -> str:
        began = time.monotonic()
        self._allowed.set_result(None)
        async with asyncio.timeout(PATIENCE):
            seconds = await self._pipe.answered_at - began
            await self._first_words()
        return f"gave {word} {seconds}"

    async def _first_words(self) -> float:
        """When they came; returns at the end of the turn."""
        first = 0.0
        async with asyncio.timeout(PATIENCE):
            async for message in self._client.receive_response():
                if isinstance(message, StreamEvent) and not first and has_words(message):
                    first = time.monotonic()
        return first


def has_words(message: StreamEvent) -> bool:
    delta: dict[str, str] = message.event.get("delta", {})
    return bool(delta.get("text"))


async def _nothing() -> AsyncIterator[dict[str, Any]]:
    """The SDK writes what is said by itself."""
    frames: tuple[dict[str, Any], ...] = ()
    for frame in frames:
        yield frame


async def serve(root: Path, cli: Path, count: int) -> None:
    clients = [Lone(cli, root / "work") for _ in range(count)]
    async with AsyncExitStack() as stack:
        for client in clients:
            await stack.enter_async_context(client.connected())
        report("ready")
        async for order in orders():
            number, verb, word = order.split()
            one = clients[int(number)]
            report(await {"say": one.say, "ask": one.ask, "allow": one.allow}[verb](word))


if __name__ == "__main__":
    logs.configure(level="warning", as_json=False)
    asyncio.run(serve(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
