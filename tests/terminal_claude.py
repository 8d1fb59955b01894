"""Somebody's own terminal: the bare CLI, without us."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from claude_sessions.demo import Sandbox
from claude_sessions.demo.sandbox import BUNDLED_CLI


async def bare_claude(sandbox: Sandbox, directory: Path, *arguments: str) -> None:
    await run(str(BUNDLED_CLI), *arguments, directory=directory, env=sandbox.env)


async def run(*command: str, directory: Path, env: Mapping[str, str]) -> None:
    null = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, cwd=directory, env=env, stdin=null, stdout=null
    )
    async with asyncio.timeout(30):
        assert await process.wait() == 0
