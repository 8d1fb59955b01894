"""The gateway: calls beside a bare route, events to many, a long replay, and a chat meanwhile."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.bridge import HOME, Bridge, bridged
from bench.child import Child, python
from bench.figure import Figure
from bench.log import DISK
from bench.probe import Probe
from bench.product import PATIENCE
from bench.sleepers import fill, sleepers
from bench.stage import Stage, staged
from bench.talk import Talk
from bench.timing import median_ms, percentile_ms, scaled
from bench.wires import Wire, asked, subscribed
from claude_sessions.config import make_home
from claude_sessions.demo import Script
from claude_sessions.places import ADDRESS
from claude_sessions.token_file import FILE

SESSIONS, EVENTS = 100, 100_000
SUBSCRIBERS, IDLE = 100, 1000
TOLD, PRESSES = 40, 12
SECONDS = 3.0  # of calls, at a time
SHARE, WITHIN_MS, IDLE_MB, REPLAYED, GIVEN_MS = 0.6, 20, 60, 30_000, 100
PERSON = 4001
LIST = {"jsonrpc": "2.0", "id": 1, "method": "claude-code.sessions", "params": {}}
KIND = "rule.added"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """An open gateway, and Starlette alone."""

    bridge: Bridge
    url: str
    token: str
    plain: str
    plain_child: Child

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def database(self) -> Path:
        return self.bridge.stage.sandbox.root / HOME / "log.db"


async def measure(scale: float = 1.0) -> list[Figure]:
    sessions, events = scaled(SESSIONS, min(scale, 1.0), least=5), scaled(EVENTS, scale, least=500)
    count, idle = scaled(SUBSCRIBERS, scale, least=2), scaled(IDLE, scale, least=10)
    talk = Talk(1.0)
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(
            staged(Script().otherwise(talk.answer), directory=DISK)
        )
        file = make_home(stage.sandbox.root / HOME) / "log.db"
        await asyncio.to_thread(fill, file, sleepers(sessions, stage.workdir), events)
        gate = await stack.enter_async_context(opened(stage, events))
        figures = [await calls(gate, sessions, scaled(4, scale), SECONDS * min(scale, 1.0))]
        figures.append(await replays(gate, events, scaled(4, scale)))
        figures.append(await idlers(gate, idle))
        figures.append(await spread(gate, count, scaled(TOLD, scale, least=3)))
        figures.append(await presses(gate, talk, count, idle, scaled(PRESSES, scale)))
    return figures


@asynccontextmanager
async def opened(stage: Stage, events: int) -> AsyncIterator[Gate]:
    async with bridged(stage, [PERSON], 4) as bridge:
        home = stage.sandbox.root / HOME
        url, token = (home / ADDRESS).read_text().strip(), (home / FILE).read_text().strip()
        async with httpx.AsyncClient(base_url=url) as client:
            answer = await client.post(
                "/rpc", json=LIST, headers={"Authorization": f"Bearer {token}"}
            )
        body = stage.sandbox.root / "body"
        body.write_bytes(answer.content)
        arguments = ["-m", "bench.plain", str(body), str(events)]
        env, directory = stage.sandbox.env, stage.workdir
        async with python(arguments, env=env, directory=directory, told=True) as child:
            port = (await child.says("port ")).split()[-1]
            plain = f"http://127.0.0.1:{port}"
            yield Gate(bridge=bridge, url=url, token=token, plain=plain, plain_child=child)


# --- calls over one connection


async def calls(gate: Gate, sessions: int, repeats: int, seconds: float) -> Figure:
    ours: list[float] = []
    bare: list[float] = []
    async with (
        httpx.AsyncClient(base_url=gate.url, headers=gate.headers) as client,
        httpx.AsyncClient(base_url=gate.plain, headers=gate.headers) as other,
    ):
        for n in range(repeats):
            turns = [(ours, client, "/rpc"), (bare, other, "/same")]
            for results, asking, path in turns if n % 2 == 0 else reversed(turns):
                results.append(await _rate(asking, path, seconds))
    value, baseline = statistics.median(ours), statistics.median(bare)
    return Figure(
        name=f"gateway: claude-code.sessions with {sessions} sessions, one connection",
        value=value,
        unit="calls/s",
        baseline=baseline,
        baseline_name="a bare route with the same bytes",
        target=f"≥ {SHARE} × bare",
        met=value >= SHARE * baseline,
    )


async def _rate(client: httpx.AsyncClient, path: str, seconds: float) -> float:
    """The client's own work is the same on both sides, and in both figures."""
    body = json.dumps(LIST).encode()
    for _ in range(20):
        await client.post(path, content=body)
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds or not done:
        answer = await client.post(path, content=body)
        assert answer.status_code == 200
        done += 1
    return done / (time.perf_counter() - began)


# --- a long replay


async def replays(gate: Gate, events: int, repeats: int) -> Figure:
    ours: list[float] = []
    bare: list[float] = []
    last = f":{_head(gate)}\n".encode()
    for n in range(repeats):
        turns: list[tuple[list[float], Callable[[], Awaitable[float]]]] = [
            (ours, lambda: _replay(gate, last)),
            (bare, lambda: _streamed(gate)),
        ]
        for results, run in turns if n % 2 == 0 else reversed(turns):
            results.append(events / await run())
    value, baseline = statistics.median(ours), statistics.median(bare)
    return Figure(
        name=f"gateway: replay of {events:,} events over SSE",
        value=value,
        unit="events/s",
        baseline=baseline,
        baseline_name="bare Starlette, ready-made bytes",
        target=f"≥ {REPLAYED:,}/s",
        met=value >= REPLAYED,
    )


async def _replay(gate: Gate, last: bytes) -> float:
    """Until the last one is there."""
    began = time.perf_counter()
    wire = await asked(gate.url, "/api/v1/events?after=0", gate.token)
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


async def _streamed(gate: Gate) -> float:
    began = time.perf_counter()
    async with (
        httpx.AsyncClient(base_url=gate.plain, timeout=PATIENCE) as client,
        client.stream("GET", "/stream") as answer,
    ):
        async for _ in answer.aiter_raw():
            pass
    return time.perf_counter() - began


def _head(gate: Gate) -> int:
    with closing(sqlite3.connect(gate.database)) as db:
        return int(db.execute("SELECT max(seq) FROM events").fetchone()[0])


# --- many who only listen


async def idlers(gate: Gate, count: int) -> Figure:
    ours = await _weight(gate.bridge.child, gate.url, "/api/v1/events", gate.token, count)
    bare = await _weight(gate.plain_child, gate.plain, "/idle", gate.token, count)
    limit = IDLE_MB * count / IDLE
    return Figure(
        name=f"gateway: memory of {count:,} idle SSE subscribers",
        value=ours,
        unit="MB",
        baseline=bare,
        baseline_name="bare Starlette",
        target=f"≤ {limit:.0f} MB",
        met=ours <= limit,
    )


async def _weight(child: Child, url: str, path: str, token: str, count: int) -> float:
    before = await child.megabytes()
    wires = [await asked(url, path, token, keep=False) for _ in range(count)]
    after = await child.megabytes()
    for wire in wires:
        wire.close()
    return after - before


# --- one event to many


async def spread(gate: Gate, count: int, repeats: int) -> Figure:
    wires = await _listeners(gate, count)
    late: list[float] = []
    async with httpx.AsyncClient(base_url=gate.url, headers=gate.headers) as client:
        for n in range(repeats):
            rule, at = await _told(gate, client, f"bench-{n}")
            async with asyncio.timeout(PATIENCE):
                late += [await _arrived(wire, rule) - at for wire in wires]
    for wire in wires:
        wire.close()
    value = median_ms(late)
    return Figure(
        name=f"gateway: append to {count} SSE and {count} WebSocket subscribers",
        value=value,
        unit="ms",
        baseline=None,
        baseline_name="",
        target=f"≤ {WITHIN_MS} ms",
        met=value <= WITHIN_MS,
    )


async def _listeners(gate: Gate, count: int) -> list[Wire]:
    path = f"/api/v1/events?types={KIND}"
    streams = [await asked(gate.url, path, gate.token) for _ in range(count)]
    return streams + [await subscribed(gate.url, gate.token, [KIND]) for _ in range(count)]


async def _told(gate: Gate, client: httpx.AsyncClient, word: str) -> tuple[bytes, float]:
    """An event that everybody hears of: its mark, and when it was appended."""
    params = {"verdict": "deny", "pattern": f"Bash({word})"}
    call = {**LIST, "method": "claude-code.rules.add", "params": params}
    made = (await client.post("/rpc", json=call)).json()["result"]["rule"]
    query = "SELECT at FROM events WHERE type = ? ORDER BY seq DESC LIMIT 1"
    with closing(sqlite3.connect(gate.database)) as db:
        (micros,) = db.execute(query, (KIND,)).fetchone()
    revoke = {**LIST, "method": "claude-code.rules.revoke", "params": {"rule": made}}
    await client.post("/rpc", json=revoke)
    return str(made).encode(), micros / 1_000_000


async def _arrived(wire: Wire, word: bytes) -> float:
    while True:
        wire.began.clear()
        try:
            return wire.when(word)
        except LookupError:
            await wire.began.wait()


# --- and a chat


async def presses(gate: Gate, talk: Talk, count: int, idle: int, repeats: int) -> Figure:
    person = gate.bridge.api.person(PERSON, "Ada")
    probe = Probe(gate.bridge, talk, person, "asker", rest=0.0)
    await probe.open()
    wires = await _listeners(gate, count)
    wires += [await asked(gate.url, "/api/v1/events", gate.token, keep=False) for _ in range(idle)]
    async with asyncio.TaskGroup() as group:
        loads = (_hammer(gate), _replay_on(gate), _tell_on(gate))
        tasks = [group.create_task(load) for load in loads]
        given = [(await probe.press(f"ask-{n}")).given for n in range(repeats)]
        for task in tasks:
            task.cancel()
    for wire in wires:
        wire.close()
    value = percentile_ms(given, 95)
    return Figure(
        name="gateway: [Allow] in a chat to answer written to Claude, under all of this, p95",
        value=value,
        unit="ms",
        baseline=None,
        baseline_name="",
        target=f"≤ {GIVEN_MS} ms",
        met=value <= GIVEN_MS,
    )


async def _hammer(gate: Gate) -> None:
    async with httpx.AsyncClient(base_url=gate.url, headers=gate.headers) as client:
        while True:
            await client.post("/rpc", json=LIST)


async def _replay_on(gate: Gate) -> None:
    while True:
        await _replay(gate, f":{_head(gate)}\n".encode())


async def _tell_on(gate: Gate) -> None:
    async with httpx.AsyncClient(base_url=gate.url, headers=gate.headers) as client:
        n = 0
        while True:
            n += 1
            await _told(gate, client, f"on-{n}")
            await asyncio.sleep(0.1)
