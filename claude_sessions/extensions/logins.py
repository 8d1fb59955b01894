"""Logging in to MCP servers: the claude program asks a person in a terminal, so it gets one.

It shows an address and waits, either for the browser on this machine to come back to it or for
somebody to type where their browser ended up. So a login stays open between two commands.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import termios
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from claude_sessions.approvals.visible import one_line
from claude_sessions.engines.process import dies_with_us
from claude_sessions.errors import CommandFailed, EngineError, NotFound
from claude_sessions.extensions import asked
from claude_sessions.extensions.secrets import in_address, struck

OPEN_SECONDS = 600.0  # a person finds a password, a phone, a code
KEPT = 64_000
WIDE = struct.pack("HHHH", 50, 16_000, 0, 0)  # so that an address stays on one line
LINKS_AND_COLOURS = re.compile(
    rb"\x1b\](?:[^\x07\x1b]|\x1b(?!\\))*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]"
)
NOT_THAT = "doesn't look like a redirect URL"  # and it asks once more
ADDRESS = re.compile(r"authorize:\s+(https?://[!-~]+)\s")


@dataclass(slots=True, kw_only=True, eq=False)
class Login:
    """One that waits for its answer."""

    process: Process
    terminal: int
    said: bytearray = field(default_factory=bytearray)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def text(self) -> str:
        return LINKS_AND_COLOURS.sub(b"", bytes(self.said)).decode(errors="replace")

    def address(self) -> str | None:
        """Where to log in, once it has said so."""
        found = ADDRESS.search(self.text)
        return found[1] if found else None

    def has_ended(self) -> bool:
        return self.process.returncode is not None

    def hear(self) -> None:
        try:
            heard = os.read(self.terminal, KEPT)
        except BlockingIOError:
            return
        except OSError:  # nobody is at the other end any more
            heard = b""
        if not heard:
            asyncio.get_running_loop().remove_reader(self.terminal)
        elif len(self.said) < KEPT:
            self.said += heard
        self.news.set()


class Logins:
    def __init__(
        self,
        *,
        cli: Callable[[], Path | None],
        env: Mapping[str, str],
        patience: float,
        open_seconds: float = OPEN_SECONDS,
    ) -> None:
        self._cli = cli
        self._env = env
        self._patience = patience
        self._open_seconds = open_seconds
        self._open: dict[tuple[str, str], Login] = {}
        self._timers: dict[Login, asyncio.TimerHandle] = {}
        self._one = asyncio.Lock()  # at a time

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Whatever is open is ended with it."""
        try:
            yield
        finally:
            for key in list(self._open):
                await self._end(key)

    async def begin(self, server: str, directory: str) -> str:
        """The address to log in at. One that was begun before is given up."""
        async with self._one:
            return await self._begin(server, directory)

    async def _begin(self, server: str, directory: str) -> str:
        key = (server, directory)
        await self._end(key)
        self._open[key] = login = await self._start(asked.server(server), directory)
        loop = asyncio.get_running_loop()
        self._timers[login] = loop.call_later(self._open_seconds, _kill, login.process)
        try:
            async with asyncio.timeout(self._patience):
                while login.address() is None and not login.has_ended():
                    await self._news(login)
        except TimeoutError:
            await self._end(key)
            raise CommandFailed(
                f"claude mcp login {server} took more than {self._patience:g} s to say where to"
                " log in. It was stopped; try again."
            ) from None
        if (address := login.address()) is None:
            await self._end(key)
            raise _failed(server, login.text)
        return address

    async def finish(self, server: str, directory: str, answer: str) -> None:
        """`answer`: the address that the browser was sent to."""
        async with self._one:
            await self._finish(server, directory, asked.answer(answer))

    async def _finish(self, server: str, directory: str, given: str) -> None:
        key = (server, directory)
        login = self._open.get(key)
        if login is None or login.has_ended():
            await self._end(key)
            raise NotFound(f"No login to {server} is open any more. /mcp auth {server} begins one.")
        said_before = len(login.text)
        os.write(login.terminal, given.encode() + b"\r")
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                while not login.has_ended() and NOT_THAT not in login.text[said_before:]:
                    await self._news(login)
        if not login.has_ended():
            raise CommandFailed(
                f"claude mcp login {server} does not take that, and still waits for the whole"
                " address that the browser was sent to."
            )
        await self._end(key)
        if login.process.returncode:
            raise _failed(server, login.text[said_before:], given)

    async def _news(self, login: Login) -> None:
        """Something was said, or it ended; both are looked at in turn."""
        login.news.clear()
        ended = asyncio.create_task(login.process.wait(), name="login.ended")
        heard = asyncio.create_task(login.news.wait(), name="login.heard")
        try:
            await asyncio.wait([ended, heard], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (ended, heard):
                task.cancel()

    async def _start(self, server: str, directory: str) -> Login:
        cli = self._cli()
        if cli is None:
            raise EngineError("There is no claude program here. claude-sessions doctor says more.")
        ours, its = pty.openpty()
        try:
            if not os.access(cli, os.X_OK):
                raise FileNotFoundError(f"{cli} is missing or not executable")
            fcntl.ioctl(its, termios.TIOCSWINSZ, WIDE)
            process = await asyncio.create_subprocess_exec(
                *dies_with_us("KILL"),
                *(cli, "mcp", "login", "--no-browser", "--", server),
                env={**self._env, "TERM": "xterm", "BROWSER": "/bin/false"},
                cwd=directory,
                stdin=its,
                stdout=its,
                stderr=its,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(ours)
            raise CommandFailed(f"claude mcp login {server} cannot be run ({error}).") from error
        finally:
            os.close(its)
        os.set_blocking(ours, False)
        login = Login(process=process, terminal=ours)
        asyncio.get_running_loop().add_reader(ours, login.hear)
        return login

    async def _end(self, key: tuple[str, str]) -> None:
        login = self._open.pop(key, None)
        if login is None:
            return
        self._timers.pop(login).cancel()
        _kill(login.process)
        await login.process.wait()
        login.hear()  # its last words
        asyncio.get_running_loop().remove_reader(login.terminal)
        os.close(login.terminal)


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _failed(server: str, text: str, answer: str = "") -> CommandFailed:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    why = struck(lines[-1] if lines else "it said nothing", in_address(answer))
    return CommandFailed(f"claude mcp login {server} failed: {one_line(why, 400)}")
