"""The host as the chaos has it: started, spoken to, killed, started again on the same home."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import psutil

import claude_sessions
from claude_sessions.demo import Sandbox
from tests.chaos.evidence import Life

PATIENCE = 60.0
LINE_LIMIT = 16 << 20

Json = dict[str, Any]


@dataclass(slots=True)
class Hosted:
    """One process; `shown` is all that it has delivered."""

    process: Process
    began: datetime
    shown: list[Json] = field(default_factory=list)
    head: int | None = None
    _ready: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: dict[int, asyncio.Future[Json | None]] = field(default_factory=dict)

    async def listen(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            with suppress(orjson.JSONDecodeError):  # the last one of a life may be half a line
                self._take(orjson.loads(line))
        self._ready.set()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)

    def _take(self, fact: Json) -> None:
        if "shown" in fact:
            self.shown.append(fact["shown"])
        elif "ready" in fact:
            self.head = fact["ready"]
            self._ready.set()
        elif (waiting := self._waiting.pop(fact["id"], None)) is not None and not waiting.done():
            waiting.set_result(fact)

    async def ready(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._ready.wait()
        if self.head is None:
            raise AssertionError(f"The daemon did not start (exit {self.process.returncode}).")

    async def ask(self, order: Json) -> Json | None:
        """Its answer; None: it has gone without one."""
        if self.process.stdin is None or self.process.stdout is None:
            return None
        if self.process.stdout.at_eof():
            return None
        answer = asyncio.get_running_loop().create_future()
        self._waiting[order["id"]] = answer
        try:
            self.process.stdin.write(orjson.dumps(order) + b"\n")
            await self.process.stdin.drain()
        except OSError:
            return None
        async with asyncio.timeout(PATIENCE):
            return await answer  # type: ignore[no-any-return]

    def life(self, ended: datetime, *, killed: bool) -> Life | None:
        """None: it never came to be heard."""
        if self.head is None:
            return None
        whole = [one for one in self.shown if one["kind"] == "stream" and one["final"]]
        return Life(
            head=self.head,
            began=self.began,
            ended=ended,
            killed=killed,
            shown=frozenset((str(one["session"]), str(one["text"])) for one in whole),
            told=[(str(one["session"]), str(one["kind"])) for one in self.shown],
        )


class MortalDaemon:
    """One home, one daemon at a time, many lives."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._ids = itertools.count(1)
        self._group = asyncio.TaskGroup()
        self._now: Hosted | None = None
        self.lives: list[Life] = []
        self.failures: list[str] = []  # ends that nobody asked for

    async def __aenter__(self) -> MortalDaemon:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> None:
        if self._now is not None:
            await self.kill()
        await self._group.__aexit__(None, None, None)

    @property
    def now(self) -> Hosted:
        assert self._now is not None
        return self._now

    async def start(self, *, wait: bool = True) -> None:
        package = Path(claude_sessions.__file__).parent.parent
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.chaos.host", str(self._sandbox.root)),
            env={**self._sandbox.env, "PYTHONPATH": str(package)},
            cwd=self._sandbox.root,
            stdin=PIPE,
            stdout=PIPE,
            limit=LINE_LIMIT,
        )
        self._now = Hosted(process, datetime.now(UTC))
        self._listener = self._group.create_task(self._now.listen(), name="host")
        if wait:
            await self._now.ready()

    async def say(self, line: str) -> Json | None:
        return await self.now.ask({"id": next(self._ids), "line": line})

    async def look(self) -> list[Json]:
        answer = await self.now.ask({"id": next(self._ids), "look": True})
        return list(answer["data"]) if answer else []

    def programs(self) -> list[psutil.Process]:
        """The daemon's own children: Claude's processes, also those that only answer a question."""
        try:
            return psutil.Process(self.now.process.pid).children()
        except psutil.NoSuchProcess:
            return []

    async def kill(self) -> None:
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        await self._end(signal.SIGTERM)

    async def _end(self, number: signal.Signals) -> None:
        hosted, killed = self.now, number is signal.SIGKILL
        asked = datetime.now(UTC)
        with suppress(ProcessLookupError):
            os.kill(hosted.process.pid, number)
        async with asyncio.timeout(PATIENCE):
            code = await hosted.process.wait()
            await self._listener
        hosted.process._transport.close()  # type: ignore[attr-defined]
        if (life := hosted.life(asked if killed else datetime.now(UTC), killed=killed)) is not None:
            self.lives.append(life)
        if code != (-number if killed else 0):
            self.failures.append(f"a daemon left with {code} instead of waiting for {number.name}")
        self._now = None
