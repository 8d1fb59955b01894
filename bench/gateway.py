"""The gateway: calls beside a bare route, events to many, a long replay, and a chat meanwhile."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx

from bench.bridge import HOME, Bridge, bridged
from bench.burden import LIST, Site, head, listeners, replay, told
from bench.child import Child, python
from bench.figure import Figure
from bench.log import DISK
from bench.probe import Probe
from bench.product import PATIENCE
from bench.sleepers import fill, sleepers
from bench.stage import Stage, staged
from bench.talk import Talk
from bench.timing import median_ms, percentile_ms, scaled
from bench.wires import Wire, asked
from claude_sessions.config import make_home
from claude_sessions.demo import Script
from claude_sessions.places import ADDRESS
from claude_sessions.token_file import FILE

SESSIONS, EVENTS = 100, 100_000
SUBSCRIBERS, IDLE = 100, 1000
TOLD, PRESSES = 40, 40
SECONDS = 3.0  # of calls, at a time
SHARE, WITHIN_MS, IDLE_MB, REPLAYED, GIVEN_MS = 0.6, 20, 60, 30_000, 100
PERSON = 4001


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """An open gateway, and Starlette alone."""

    bridge: Bridge
    site: Site
    plain: str
    plain_child: Child


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
            site = Site(url=url, token=token, database=home / "log.db")
            yield Gate(bridge=bridge, site=site, plain=plain, plain_child=child)


# --- calls over one connection


async def calls(gate: Gate, sessions: int, repeats: int, seconds: float) -> Figure:
    ours: list[float] = []
    bare: list[float] = []
    async with (
        httpx.AsyncClient(base_url=gate.site.url, headers=gate.site.headers) as client,
        httpx.AsyncClient(base_url=gate.plain, headers=gate.site.headers) as other,
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
    last = f":{head(gate.site)}\n".encode()
    for n in range(repeats):
        turns: list[tuple[list[float], Callable[[], Awaitable[float]]]] = [
            (ours, lambda: replay(gate.site, last)),
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


async def _streamed(gate: Gate) -> float:
    began = time.perf_counter()
    async with (
        httpx.AsyncClient(base_url=gate.plain, timeout=PATIENCE) as client,
        client.stream("GET", "/stream") as answer,
    ):
        async for _ in answer.aiter_raw():
            pass
    return time.perf_counter() - began


# --- many who only listen


async def idlers(gate: Gate, count: int) -> Figure:
    ours = await _weight(gate.bridge.child, gate.site.url, "/api/v1/events", gate.site.token, count)
    bare = await _weight(gate.plain_child, gate.plain, "/idle", gate.site.token, count)
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
    wires = await listeners(gate.site, count)
    late: list[float] = []
    async with httpx.AsyncClient(base_url=gate.site.url, headers=gate.site.headers) as client:
        for n in range(repeats):
            mark, at = await told(gate.site, client, 10 * n + 1)
            async with asyncio.timeout(PATIENCE):
                late += [await _arrived(wire, mark) - at for wire in wires]
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
    site, stage = gate.site, gate.bridge.stage
    arguments = [site.url, site.token, str(site.database), str(count), str(idle)]
    async with python(
        ["-m", "bench.burden", *arguments],
        env=stage.sandbox.env,
        directory=stage.workdir,
        told=True,
    ) as child:
        await child.says("ready")
        given = [(await probe.press(f"ask-{n}")).given for n in range(repeats)]
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
