"""A WebSocket client that keeps what it hears."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.gateway.port import Port, RpcError

PATIENCE = 15.0


class Ear:
    """`news` is what came unasked."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.news: list[Any] = []
        self._ids = 0

    async def call(self, method: str, **params: Any) -> Any:
        self._ids += 1
        asked = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        await self.connection.send(json.dumps(asked))
        while True:
            told = await self.hears()
            if told.get("id") == self._ids:
                break
            self.news.append(told)
        if "error" in told:
            raise RpcError(told["error"])
        return told["result"]

    async def hears(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self.connection.recv())

    async def until(self, type_: str) -> Any:
        """The next event of that type, told of a subscription."""
        while True:
            while self.news:
                event = self.news.pop(0)["params"]["event"]
                if event["type"] == type_:
                    return event
            self.news.append(await self.hears())


@asynccontextmanager
async def listening(port: Port, path: str = "/rpc", token: str | None = None) -> AsyncIterator[Ear]:
    headers = {"Authorization": f"Bearer {token or port.token}"}
    async with connect(port.ws + path, additional_headers=headers) as connection:
        yield Ear(connection)
