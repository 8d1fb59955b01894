"""The program as its users start it: a process of its own, in an environment made from nothing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

import claude_sessions
from claude_sessions.demo import Sandbox
from claude_sessions.storage.schema import connect_for_reading
from tests.process.terminal import Terminal

PATIENCE = 30.0
ANY_PORT = "CLAUDE_SESSIONS__GATEWAY__PORT"
ENTRY = "import sys; from claude_sessions.cli import main; sys.exit(main())"  # as pip writes it


@dataclass(slots=True, kw_only=True)
class Ran:
    """A program that has ended, and what it said."""

    code: int
    out: str
    err: str


@dataclass(slots=True)
class Program:
    """One that runs without a terminal; `lines` is what it said on stderr so far."""

    process: Process
    lines: list[str] = field(default_factory=list)

    @property
    def pid(self) -> int:
        return self.process.pid

    async def says(self, text: str) -> str:
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE):
            while line := (await self.process.stderr.readline()).decode():
                self.lines.append(line.rstrip("\n"))
                if text in line:
                    return line
        raise AssertionError("\n".join([f"It ended without saying {text!r}:", *self.lines]))

    async def left(self) -> int:
        """Its exit code."""
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE):
            rest = await self.process.stderr.read()
            self.lines += rest.decode().splitlines()
            return await self.process.wait()


@dataclass(frozen=True, slots=True)
class Machine:
    """A user's machine: their home, their configuration, and nothing of the real one."""

    sandbox: Sandbox
    workdir: Path

    @property
    def home(self) -> Path:
        """Where the daemon keeps its state."""
        return self.sandbox.root / "state"

    @property
    def log(self) -> str:
        """What the daemon logged while a chat had the terminal."""
        file = self.home / "claude-sessions.log"
        return file.read_text() if file.exists() else ""

    @property
    def env(self) -> dict[str, str]:
        package = Path(claude_sessions.__file__).parent.parent
        return {**self.sandbox.env, "PYTHONPATH": str(package), ANY_PORT: "0"}

    def configure(self, more: str = "", **sessions: object) -> Path:
        """All of the sandbox may reach Claude; the daemon's own PYTHONPATH does not."""
        given = {
            "default_workdir": str(self.workdir),
            "pass_env": list(self.sandbox.env),
            **sessions,
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in given.items()]
        file = self.sandbox.root / "claude-sessions.toml"
        file.write_text("\n".join(["[sessions]", *lines, more, ""]))
        return file

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", ENTRY, *arguments]

    def run(self, *more: str) -> list[str]:
        config = self.sandbox.root / "claude-sessions.toml"
        if not config.exists():
            self.configure()
        return self.command("run", "--config", str(config), "--home", str(self.home), *more)

    @asynccontextmanager
    async def started(
        self, command: list[str], env: Mapping[str, str] | None = None
    ) -> AsyncIterator[Program]:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**self.env, **(env or {})},
            cwd=self.workdir,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
        )
        try:
            yield Program(process)
        finally:
            await _end(process)

    @asynccontextmanager
    async def at_terminal(self, command: list[str]) -> AsyncIterator[Terminal]:
        """As in a window of its own: its own session, whose terminal it is."""
        with Terminal.opened() as terminal:
            terminal.process = await asyncio.create_subprocess_exec(
                *("setsid", "--ctty"),
                *command,
                env=self.env,
                cwd=self.workdir,
                stdin=terminal.slave,
                stdout=terminal.slave,
                stderr=terminal.slave,
            )
            try:
                yield terminal
            finally:
                await _end(terminal.process)

    def chat(self, *more: str) -> AbstractAsyncContextManager[Terminal]:
        return self.at_terminal(self.run(*more))

    def client(self, *arguments: str) -> list[str]:
        """A command for the daemon that runs here."""
        return self.command(*arguments[:1], "--home", str(self.home), *arguments[1:])

    async def ran(
        self, *command: str, env: Mapping[str, str] | None = None, piped: str | None = None
    ) -> Ran:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**self.env, **(env or {})},
            cwd=self.workdir,
            stdin=DEVNULL if piped is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
        try:
            async with asyncio.timeout(2 * PATIENCE):
                out, err = await process.communicate(piped.encode() if piped else None)
        finally:
            await _end(process)
        return Ran(code=process.returncode or 0, out=out.decode(), err=err.decode())

    def story(self) -> str:
        """What is in the log, for whoever reads why a test failed."""
        query = "SELECT seq, session, type, payload FROM events ORDER BY seq"
        with closing(connect_for_reading(self.home / "log.db")) as db:
            return "\n".join(str(tuple(row))[:160] for row in db.execute(query))

    def processes(self) -> list[psutil.Process]:
        """Whatever runs in this sandbox, or in one made below it, whoever its parent is by now."""
        return [process for process in psutil.process_iter() if self._is_here(process)]

    def _is_here(self, process: psutil.Process) -> bool:
        try:
            home = process.environ().get("HOME", "")
            living = process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):  # gone meanwhile, or another user's
            return False
        return living and Path(home).is_relative_to(self.sandbox.root)

    def sweep(self) -> None:
        """A test that failed leaves nothing running either."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()


@asynccontextmanager
async def serving(machine: Machine) -> AsyncIterator[Program]:
    """A daemon without a terminal, stopped in the end if it still runs."""
    async with machine.started(machine.run()) as daemon:
        await daemon.says("daemon.ready")
        yield daemon
        if daemon.process.returncode is None:
            os.kill(daemon.pid, signal.SIGTERM)
            assert await daemon.left() == 0


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    process._transport.close()  # type: ignore[attr-defined]
