"""The other side: commands that write down how they were called, and a webhook."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claude_sessions.clock import ManualClock
from claude_sessions.demo.http import plain, read_call

RECORDER = """#!{python} -I
import json, os, sys, time
if {slow}:
    child = os.fork()
    if child == 0:
        time.sleep(600)
call = {{"argv": sys.argv[1:], "env": dict(os.environ), "pid": os.getpid()}}
call |= {{"children": [child] if {slow} else []}}
with open({calls!r}, "a") as file:
    file.write(json.dumps(call) + "\\n")
if {slow}:
    time.sleep(600)
print({says!r})
sys.exit({code})
"""


class Watched(ManualClock):
    """A clock that stands still, and of which one can see who waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await super().sleep(seconds)


@dataclass
class Recorder:
    """A command. `slow`: it hangs, and so does a child of its own."""

    path: Path
    calls_file: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        try:
            lines = self.calls_file.read_text().splitlines()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines]

    @property
    def argv(self) -> list[list[str]]:
        return [call["argv"] for call in self.calls]

    def becomes(self, *, code: int = 0, says: str = "", slow: bool = False) -> Recorder:
        text = RECORDER.format(
            python=sys.executable, calls=str(self.calls_file), code=code, says=says, slow=slow
        )
        self.path.write_text(text)
        self.path.chmod(0o700)
        return self


def recorder(directory: Path, name: str) -> Recorder:
    return Recorder(directory / name, directory / f"{name}.calls").becomes()


@dataclass
class Webhook:
    url: str = ""
    status: int = 200
    silent: bool = False
    calls: list[tuple[str, str, Any]] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (call := await read_call(reader)) is not None:
                self.calls.append((call.method, call.path, json.loads(call.body)))
                if not self.silent:
                    writer.write(plain(self.status, {}))
        finally:
            writer.close()


@asynccontextmanager
async def webhook() -> AsyncIterator[Webhook]:
    hook = Webhook()
    server = await asyncio.start_server(hook.answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        hook.url = f"http://127.0.0.1:{port}/hooks/wake"
        yield hook
