"""A Python process that is started, read, weighed and ended within bounds."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from bench.product import PATIENCE

CHECKOUT = Path(__file__).parent.parent
MEGABYTE = 1_000_000
ANY_PORT = "CLAUDE_SESSIONS__GATEWAY__PORT"  # several daemons may run at once
SETTLING_SECONDS = 2.0


class Child:
    def __init__(self, process: Process) -> None:
        self._process = process

    async def says(self, word: str) -> str:
        """Wait for a line with this in it."""
        assert self._process.stdout is not None
        heard = []
        async with asyncio.timeout(PATIENCE):
            while line := (await self._process.stdout.readline()).decode():
                heard.append(line)
                if word in line:
                    return line
        raise RuntimeError(f"it ended without “{word}”; it said: {''.join(heard[-20:])}")

    @property
    def pid(self) -> int:
        return self._process.pid

    @asynccontextmanager
    async def unheard(self) -> AsyncIterator[None]:
        """What it says meanwhile is dropped: with nobody to read, it would come to a stop."""
        dropping = asyncio.create_task(self._drop(), name="child.unheard")
        try:
            yield
        finally:
            dropping.cancel()
            await asyncio.wait([dropping])

    async def _drop(self) -> None:
        assert self._process.stdout is not None
        while await self._process.stdout.read(65536):
            pass

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    async def megabytes(self) -> float:
        """Its resident memory, once that has stopped changing."""
        before, now = 0.0, self._resident()
        until = time.monotonic() + SETTLING_SECONDS
        while abs(now - before) > 0.05 and time.monotonic() < until:
            await asyncio.sleep(0.1)
            before, now = now, self._resident()
        return now

    def _resident(self) -> float:
        return float(psutil.Process(self._process.pid).memory_info().rss) / MEGABYTE

    async def end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        else:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._process.communicate()


@asynccontextmanager
async def python(
    arguments: Sequence[str], *, env: Mapping[str, str], directory: Path, told: bool = False
) -> AsyncIterator[Child]:
    """`told`: it reads its orders from us and ends with them; else SIGTERM ends it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=PIPE if told else DEVNULL,
        stdout=PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=directory,
        # what it imports lies in this checkout, whatever is installed
        env={**env, "PYTHONPATH": str(CHECKOUT), ANY_PORT: "0"},
    )
    child = Child(process)
    try:
        yield child
    finally:
        try:
            await child.end()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
