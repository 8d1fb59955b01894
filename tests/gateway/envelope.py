"""A client of the runtime envelope, with a WebSocket library that is not ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.gateway.port import Port

PATIENCE = 20.0

Event = dict[str, Any]


@dataclass
class Client:
    """`heard`: all events so far, as they came; `frames`: with what is around them."""

    socket: ClientConnection
    heard: list[Event] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)

    async def event(self) -> Event:
        async with asyncio.timeout(PATIENCE):
            frame = json.loads(await self.socket.recv())
        assert frame["type"] == "event"
        self.frames.append(frame)
        self.heard.append(frame["event"])
        return self.heard[-1]

    async def until(self, kind: str, holds: Callable[[Event], bool] = lambda _: True) -> Event:
        """Reads on to the next event of this kind; what lies before it is in `heard`."""
        while True:
            event = await self.event()
            if event["type"] == kind and holds(event):
                return event

    async def say(self, command: Any) -> None:
        await self.send({"type": "command", "command": command})

    async def send(self, frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def echo(self, word: str = "are you there") -> list[Event]:
        """Whatever came before the answer to this has come by then."""
        before = len(self.heard)
        await self.say({"type": "nothing", "word": word})
        await self.until("command:received", lambda e: e["command"].get("word") == word)
        return self.heard[before:-1]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.heard]

    def kinds(self, *but: str) -> list[str]:
        """As `types`, with a run of pieces as one, and without some."""
        found: list[str] = []
        for kind in self.types:
            if kind not in but and not (kind.endswith(":delta") and found[-1:] == [kind]):
                found.append(kind)
        return found


@asynccontextmanager
async def connected(
    port: Port, query: str = "", *, token: str | None = None, **more: Any
) -> AsyncIterator[Client]:
    """`token`: empty for none; None for the owner's."""
    secret = port.token if token is None else token
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    async with connect(
        f"{port.ws}/ws{query}", additional_headers=headers, proxy=None, **more
    ) as socket:
        yield Client(socket)
