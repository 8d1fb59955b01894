"""Starting and ending Claude's process and everything below it.

Each process gets an environment made from nothing, a session of its own (a Ctrl-C in the daemon's
terminal must not reach it) and dies with the daemon. Tools start sessions of their own, so killing
the group is not enough: descendants are walked.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence

import psutil

LINE_LIMIT = 64 << 20  # one frame may carry a large file or image
GRACE_SECONDS = 1.5  # after stdin closed: the CLI writes its transcript and goes
TERM_SECONDS = 2.5  # after TERM: it ends its tools
KILL_SECONDS = 5.0

_SETPRIV = shutil.which("setpriv")


async def spawn(command: Sequence[str], *, directory: str, env: Mapping[str, str]) -> Process:
    if not os.access(command[0], os.X_OK):
        raise FileNotFoundError(f"{command[0]} is missing or not executable")
    if not os.access(directory, os.X_OK):
        raise NotADirectoryError(f"{directory} is gone, or cannot be entered")
    return await asyncio.create_subprocess_exec(
        *dies_with_us("TERM"),
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=directory,
        env=dict(env),
        start_new_session=True,
        limit=LINE_LIMIT,
    )


def dies_with_us(how: str) -> tuple[str, ...]:
    """What to put before a command, so that it gets this signal when the daemon dies.

    It is bound to the thread that forks: the event loop must stay in the main thread.
    """
    return (_SETPRIV, "--pdeathsig", how, "--") if _SETPRIV else ()


async def end(process: Process) -> None:
    """Close, TERM, KILL, each with a deadline; then whatever its tools left behind."""
    if process.returncode is not None:  # it died by itself, and its pid may be another's by now
        await asyncio.to_thread(sweep, await asyncio.to_thread(orphans, process.pid))
        return
    below = await asyncio.to_thread(descendants, process.pid)
    if process.stdin is not None:
        process.stdin.close()
    if not await _gone_within(process, GRACE_SECONDS):
        below |= await asyncio.to_thread(descendants, process.pid)
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        if not await _gone_within(process, TERM_SECONDS):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await _gone_within(process, KILL_SECONDS)
    if below:
        await asyncio.to_thread(sweep, below)


async def _gone_within(process: Process, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True


def descendants(pid: int) -> set[psutil.Process]:
    try:
        return set(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return set()


def orphans(pid: int, since: float | None = None) -> set[psutil.Process]:
    """What a Claude that was killed has left: its tools carry its pid in their environment.

    `since`: when that Claude began; nothing older can be its tool. None: nothing older than us.
    """
    since = psutil.Process().create_time() if since is None else since
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):  # gone meanwhile, or another user's
            if process.environ().get("CLAUDE_PID") == str(pid) and process.create_time() >= since:
                found.add(process)
    return found


def sweep(processes: set[psutil.Process]) -> None:
    """TERM, then KILL what is left. psutil compares start times: a reused pid is never hit."""
    for process in processes:
        with contextlib.suppress(psutil.Error):  # gone, or another user's: a tool may use sudo
            process.terminate()
    _, alive = psutil.wait_procs(processes, timeout=1.0)
    for process in alive:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=1.0)
