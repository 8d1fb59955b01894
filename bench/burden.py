"""What programs ask of the gateway all at once, in a process of its own: who measures is not busy.

`python -m bench.burden URL TOKEN DATABASE LISTENERS IDLE`: until its input ends.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.product import PATIENCE
from bench.wires import Wire, asked, subscribed

LIST = {"jsonrpc": "2.0", "id": 1, "method": "claude-code.sessions", "params": {}}
KIND = "session.budget"
ASLEEP = "session-1"
SILENT = "session-2"  # nothing happens there: who follows it is idle
OTHERS = 100_001  # numbers that nobody waits for


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """An open gateway."""

    url: str
    token: str
    database: Path

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


async def replay(site: Site, last: bytes) -> float:
    """Until the last one is there."""
    began = time.perf_counter()
    wire = await asked(site.url, "/api/v1/events?after=0", site.token)
    async with asyncio.timeout(PATIENCE):
        tail, read = b"", 0
        while last not in tail:
            wire.began.clear()
            while read < len(wire.heard):
                tail = tail[-200:] + wire.heard[read][1]
                read += 1
                if last in tail:
                    break
            else:
                await wire.began.wait()
    seconds = time.perf_counter() - began
    wire.close()
    return seconds


def head(site: Site) -> int:
    with closing(sqlite3.connect(site.database)) as db:
        return int(db.execute("SELECT max(seq) FROM events").fetchone()[0])


async def listeners(site: Site, count: int) -> list[Wire]:
    path = f"/api/v1/events?types={KIND}"
    streams = [await asked(site.url, path, site.token) for _ in range(count)]
    return streams + [await subscribed(site.url, site.token, [KIND]) for _ in range(count)]


async def told(site: Site, client: httpx.AsyncClient, number: int) -> tuple[bytes, float]:
    """An event that everybody hears of: its mark, and when it was appended."""
    dollars = 6 + number / 1000
    call = {**LIST, "method": "claude-code.chat", "params": {"line": f"/budget {ASLEEP} {dollars}"}}
    assert "result" in (await client.post("/rpc", json=call)).json()
    query = "SELECT at FROM events WHERE type = ? ORDER BY seq DESC LIMIT 1"
    with closing(sqlite3.connect(site.database)) as db:
        (micros,) = db.execute(query, (KIND,)).fetchone()
    return f'"budgetUsd":{dollars}'.encode(), micros / 1_000_000


async def hammer(site: Site) -> None:
    async with httpx.AsyncClient(base_url=site.url, headers=site.headers) as client:
        while True:
            await client.post("/rpc", json=LIST)


async def replay_on(site: Site) -> None:
    while True:
        await replay(site, f":{head(site)}\n".encode())


async def tell_on(site: Site) -> None:
    async with httpx.AsyncClient(base_url=site.url, headers=site.headers) as client:
        n = 0
        while True:
            n += 1
            await told(site, client, OTHERS + n)
            await asyncio.sleep(0.1)


async def main(url: str, token: str, database: str, count: str, idle: str) -> None:
    site = Site(url=url, token=token, database=Path(database))
    wires = await listeners(site, int(count))
    for _ in range(int(idle)):
        wires.append(await asked(url, f"/api/v1/sessions/{SILENT}/events", token, keep=False))
    loads = [asyncio.create_task(load) for load in (hammer(site), replay_on(site), tell_on(site))]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    for load in loads:
        load.cancel()
    await asyncio.gather(*loads, return_exceptions=True)
    for wire in wires:
        wire.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
