"""From a message to an idle session to the model being asked."""

from __future__ import annotations

import asyncio
import time

from claude_agent_sdk import ClaudeSDKClient

from bench.bare import turn_over
from bench.figure import Figure
from bench.product import OWNER, idle
from bench.stage import Stage, staged
from bench.timing import interleaved, median_ms, scaled
from claude_sessions.daemon import Daemon

MORE_MS = 10
NAME = "talker"
CALM_SECONDS = 0.05  # after a turn the CLI still writes its transcript


async def measure(scale: float = 1.0) -> list[Figure]:
    async with staged() as stage, stage.daemon() as daemon, stage.client() as client:
        await daemon.hear(f"/new --name {NAME} hello", OWNER)
        await idle(daemon, NAME)
        await by_client(stage, client, "hello")
        ours, bare = await interleaved(
            scaled(120, scale),
            lambda n: by_daemon(stage, daemon, f"ours-{n}"),
            lambda n: by_client(stage, client, f"bare-{n}"),
        )
    value, baseline = median_ms(ours), median_ms(bare)
    return [
        Figure(
            name="follow-up: message to model asked",
            value=value,
            unit="ms",
            baseline=baseline,
            baseline_name="bare SDK client",
            target=f"≤ bare + {MORE_MS} ms",
            met=value <= baseline + MORE_MS,
        )
    ]


async def by_daemon(stage: Stage, daemon: Daemon, word: str) -> float:
    await asyncio.sleep(CALM_SECONDS)
    began = time.monotonic()
    await daemon.hear(f"/say {NAME} {word}", OWNER)
    asked = await stage.asked(word)
    await idle(daemon, NAME)
    return asked - began


async def by_client(stage: Stage, client: ClaudeSDKClient, word: str) -> float:
    await asyncio.sleep(CALM_SECONDS)
    began = time.monotonic()
    await client.query(word)
    asked = await stage.asked(word)
    await turn_over(client)
    return asked - began
