"""Asking git, in a directory that may be anybody's: no shell, no hooks, nothing to type."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from claude_sessions.approvals.visible import one_line
from claude_sessions.errors import Conflict

PATIENCE = 60.0
GRACE = 5.0  # git takes its locks away when it is told to stop

# A repository's own settings name programs; none of them is run on our account.
SAFELY = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "commit.gpgSign=false"),
    "--no-pager",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        """Git's own word for what is wrong."""
        lines = [line for line in (self.err or self.out).splitlines() if line.strip()]
        return one_line(lines[-1], 200) if lines else f"it ended with {self.code}"


class Git:
    def __init__(self, environ: Mapping[str, str], *, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._env = {
            **{name: environ[name] for name in ("PATH", "HOME") if name in environ},
            "LANG": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
        }

    async def read(self, directory: str, *arguments: str) -> str:
        """What it says; if it refuses, its last line becomes the error."""
        answer = await self.ask(directory, *arguments)
        if answer.code:
            raise Conflict(f"git {arguments[0]} failed in {directory}: {answer.last_line}")
        return answer.out

    async def ask(self, directory: str, *arguments: str) -> Answer:
        process = await self._start(directory, arguments)
        try:
            async with asyncio.timeout(self._patience):
                out, err = await process.communicate()
        except TimeoutError:
            raise Conflict(
                f"git {arguments[0]} took more than {self._patience:g} s in {directory}"
                " and was stopped. Try again when the machine is less busy."
            ) from None
        finally:
            await asyncio.shield(_end(process))
        return Answer(
            code=process.returncode or 0,
            out=out.decode(errors="replace"),
            err=err.decode(errors="replace"),
        )

    async def _start(self, directory: str, arguments: tuple[str, ...]) -> Process:
        try:
            return await asyncio.create_subprocess_exec(
                "git",
                *SAFELY,
                *arguments,
                cwd=directory,
                env=self._env,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise Conflict(
                f"git cannot be run in {directory}: {why}. Is git installed, and is that there?"
            ) from error


async def _end(process: Process) -> None:
    if process.returncode is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await process.wait()
                return
