"""An agent at the gateway: the `mcp` package's own client, over a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from tests.gateway.port import Port


class Refusal(Exception):
    """What the agent was told instead."""


@dataclass(frozen=True, slots=True)
class Agent:
    client: Client

    async def use(self, tool: str, **arguments: Any) -> str:
        """The text of the result; `Refusal` if it is an error."""
        result = await self.client.call_tool(f"claude_{tool}", arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        if result.is_error:
            raise Refusal(content.text)
        return content.text


@asynccontextmanager
async def agent(port: Port, token: str | None = None) -> AsyncIterator[Agent]:
    """One connection; leaving it ends it as clients do."""
    headers = {"Authorization": f"Bearer {token or port.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{port.url}/mcp", http_client=http)) as client,
    ):
        yield Agent(client)
