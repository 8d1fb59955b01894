"""From a message to a sleeping session to the model being asked."""

from __future__ import annotations

import time

from bench.bare import turn_over
from bench.figure import Figure
from bench.product import OWNER, idle
from bench.stage import Stage, staged
from bench.timing import interleaved, median_ms, scaled
from claude_sessions.daemon import Daemon

LIMIT = 1.2
NAME = "sleeper"


async def measure(scale: float = 1.0) -> list[Figure]:
    async with staged() as stage, stage.daemon() as daemon:
        await daemon.hear(f"/new --name {NAME} hello", OWNER)
        await idle(daemon, NAME)
        await daemon.hear(f"/sleep {NAME}", OWNER)
        conversation = await stage.conversation()
        ours, bare = await interleaved(
            scaled(25, scale),
            lambda n: by_daemon(stage, daemon, f"ours-{n}"),
            lambda n: by_client(stage, conversation, f"bare-{n}"),
        )
    value, baseline = median_ms(ours), median_ms(bare)
    return [
        Figure(
            name="wake: message to a sleeping session to model asked",
            value=value,
            unit="ms",
            baseline=baseline,
            baseline_name="bare SDK resume",
            target=f"≤ {LIMIT} × bare",
            met=value <= LIMIT * baseline,
        )
    ]


async def by_daemon(stage: Stage, daemon: Daemon, word: str) -> float:
    began = time.monotonic()
    await daemon.hear(f"/say {NAME} {word}", OWNER)
    asked = await stage.asked(word)
    await idle(daemon, NAME)
    await daemon.hear(f"/sleep {NAME}", OWNER)
    return asked - began


async def by_client(stage: Stage, conversation: str, word: str) -> float:
    began = time.monotonic()
    async with stage.client(resume=conversation) as client:
        await client.query(word)
        asked = await stage.asked(word)
        await turn_over(client)
    return asked - began
