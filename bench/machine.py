"""What the figures were measured on; nothing that tells one machine of a kind from another."""

from __future__ import annotations

import asyncio
import os
import platform
from asyncio.subprocess import DEVNULL, PIPE
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import claude_agent_sdk

from claude_sessions.demo import Sandbox
from claude_sessions.demo.sandbox import BUNDLED_CLI

CPUINFO = Path("/proc/cpuinfo")


def load() -> float:
    """How many wanted to run, on average over the last minute."""
    return os.getloadavg()[0]


async def facts() -> dict[str, str]:
    return {
        "Cores": str(len(os.sched_getaffinity(0))),
        "CPU": cpu_model(),
        "Python": platform.python_version(),
        "Agent SDK": claude_agent_sdk.__version__,
        "Claude CLI": await cli_version(),
    }


def today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def cpu_model() -> str:
    lines = CPUINFO.read_text().splitlines() if CPUINFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


async def cli_version() -> str:
    with TemporaryDirectory(prefix="claude-sessions-bench-") as root:
        process = await asyncio.create_subprocess_exec(
            BUNDLED_CLI,
            "--version",
            stdin=DEVNULL,
            stdout=PIPE,
            env=Sandbox(Path(root), "http://127.0.0.1:9").env,
        )
        try:
            async with asyncio.timeout(30):
                said, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return said.decode().split()[0]
