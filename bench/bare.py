"""The baseline: the SDK's own client on the SDK's own transport, asked for the same as ours."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    ToolPermissionContext,
)

from bench.product import PATIENCE


def options(cli: Path, workdir: Path, resume: str | None = None) -> ClaudeAgentOptions:
    """What `ClaudeEngine` gives a session that is launched, or woken, with nothing but a prompt."""
    return ClaudeAgentOptions(
        cwd=workdir,
        cli_path=cli,
        permission_mode="default",
        max_budget_usd=5.0,
        system_prompt={"type": "preset", "preset": "claude_code"},
        include_partial_messages=True,
        setting_sources=["user"],
        resume=resume,
        session_id=None if resume else str(uuid.uuid4()),
        can_use_tool=allow,
    )


async def allow(
    tool_name: str, given: dict[str, Any], context: ToolPermissionContext
) -> PermissionResultAllow:
    return PermissionResultAllow()


@asynccontextmanager
async def connected(
    cli: Path, workdir: Path, resume: str | None = None
) -> AsyncIterator[ClaudeSDKClient]:
    client = ClaudeSDKClient(options(cli, workdir, resume))
    try:
        async with asyncio.timeout(PATIENCE):
            await client.connect()
        yield client
    finally:
        await client.disconnect()


async def turn_over(client: ClaudeSDKClient) -> ResultMessage:
    async with asyncio.timeout(PATIENCE):
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                return message
    raise RuntimeError("the turn ended without a result")
