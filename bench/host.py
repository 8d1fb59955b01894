"""A process of its own that holds sessions, to be weighed from outside.

`python -m bench.host daemon|bare ROOT CLI`; a number on stdin: have that many sessions, each idle
after one turn; the number comes back on stdout when it is so. The end of stdin ends it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from bench.bare import connected, turn_over
from bench.orders import orders, report
from bench.product import OWNER, daemon_in, idle
from claude_sessions import logs


async def hold_by_daemon(root: Path) -> None:
    async with daemon_in(root, os.environ) as daemon:
        have = 0
        async for order in orders():
            wanted = int(order)
            for n in range(have, wanted):
                await daemon.hear(f"/new --name session-{n} hello", OWNER)
                await idle(daemon, f"session-{n}")
            have = wanted
            report(str(have))


async def hold_by_clients(root: Path, cli: Path) -> None:
    async with AsyncExitStack() as stack:
        have = 0
        async for order in orders():
            wanted = int(order)
            for _ in range(have, wanted):
                client = await stack.enter_async_context(connected(cli, root / "work"))
                await client.query("hello")
                await turn_over(client)
            have = wanted
            report(str(have))


def main(kind: str, root: Path, cli: Path) -> None:
    logs.configure(level="warning", as_json=False)
    asyncio.run(hold_by_daemon(root) if kind == "daemon" else hold_by_clients(root, cli))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
