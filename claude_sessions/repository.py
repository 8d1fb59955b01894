"""What git knows of a directory, asked so that no repository, however hostile, can run anything.

`git status` may start what the repository's own configuration names: a file system monitor, hooks,
filters, programs of submodules, a transport that fetches missing objects. Each is switched off in
the one scope that a repository cannot override: the command's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SECONDS = 5.0
AT_ONCE = 4
OUTPUT = 256 << 10
FILTERS = 64  # nobody has more; a repository that does is not asked whether it is dirty
PASSED = ("PATH", "HOME", "XDG_CONFIG_HOME")

HARMLESS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.untrackedCache": "false",
    "safe.bareRepository": "explicit",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
}
SURROUNDINGS = {
    "GIT_OPTIONAL_LOCKS": "0",  # never in the way of a session's own git
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "",  # and so no object is fetched
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
SECRET = re.compile(r"(?<=://)[^/@]*@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Each on its own: None where there is none, or it could not be found out in time."""

    branch: str | None = None  # the short hash where no branch is checked out
    dirty: bool | None = None
    remote: str | None = None

    @property
    def at(self) -> str | None:
        """`main`, `main*`."""
        return f"{self.branch}{'*' if self.dirty else ''}" if self.branch else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    code: int | None  # None: cut off
    output: bytes


class Onlooker:
    def __init__(self, environ: Mapping[str, str], *, seconds: float = SECONDS) -> None:
        self._environ = {name: environ[name] for name in PASSED if name in environ} | SURROUNDINGS
        self._seconds = seconds
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def facts(self, directory: str) -> Facts:
        if not await asyncio.to_thread(_is_below_repository, directory):
            return Facts()
        branch, dirty, remote = await asyncio.gather(
            self._branch(directory), self._dirty(directory), self._remote(directory)
        )
        return Facts(branch=branch, dirty=dirty, remote=remote)

    async def _branch(self, directory: str) -> str | None:
        named = await self._run(directory, "symbolic-ref", "--short", "--quiet", "HEAD")
        if named.code == 1:  # detached
            named = await self._run(directory, "rev-parse", "--short", "--verify", "HEAD")
        return _text(named) if named.code == 0 else None

    async def _dirty(self, directory: str) -> bool | None:
        filters = await self._run(directory, "config", "-z", "--name-only", *_each("filter"))
        names = {key.rpartition(b".")[0] for key in filters.output.split(b"\0") if key}
        if filters.code not in (0, 1) or len(names) > FILTERS:
            return None
        off = {"clean": "", "smudge": "", "process": "", "required": "false"}
        config = {f"{os.fsdecode(name)}.{key}": off[key] for name in names for key in off}
        question = ("status", "--porcelain", "-z", "--ignore-submodules=all", "--no-renames")
        first = await self._run(directory, *question, "--", ".", limit=1, config=config)
        return bool(first.output) if first.output or first.code == 0 else None

    async def _remote(self, directory: str) -> str | None:
        found = await self._run(directory, "config", "-z", *_each("remote", "url"))
        entries = [entry.partition(b"\n") for entry in found.output.split(b"\0")]
        urls = {key: os.fsdecode(url) for key, _, url in entries if url}
        url = urls.get(b"remote.origin.url") or next(iter(urls.values()), None)
        return SECRET.sub("", url) if found.code == 0 and url else None

    async def _run(
        self,
        directory: str,
        *arguments: str,
        limit: int = OUTPUT,
        config: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Never raises for what git, or the lack of it, does; what is over the limit is cut."""
        async with self._slots:
            try:
                process = await asyncio.create_subprocess_exec(
                    "git",
                    "--no-pager",
                    *arguments,
                    cwd=directory,
                    env=self._environ | _configured({**HARMLESS, **(config or {})}),
                    stdin=DEVNULL,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    start_new_session=True,
                )
            except (OSError, ValueError):
                return Outcome(code=None, output=b"")
            try:
                async with asyncio.timeout(self._seconds):
                    return await _outcome(process, limit)
            except TimeoutError:
                return Outcome(code=None, output=b"")
            finally:
                await _end(process)


async def _outcome(process: Process, limit: int) -> Outcome:
    assert process.stdout is not None
    try:
        output = await process.stdout.readexactly(limit)
    except asyncio.IncompleteReadError as all_there_is:
        return Outcome(code=await process.wait(), output=all_there_is.partial)
    return Outcome(code=None, output=output)


async def _end(process: Process) -> None:
    """With whatever it may have started."""
    if process.returncode is None:  # else its number may be another's by now
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _configured(config: Mapping[str, str]) -> dict[str, str]:
    """As variables rather than `-c`: a filter's name may contain anything."""
    given = {"GIT_CONFIG_COUNT": str(len(config))}
    for n, (key, value) in enumerate(config.items()):
        given |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    return given


def _each(section: str, key: str = "[^.]*") -> tuple[str, str]:
    return "--get-regexp", rf"^{section}\..*\.{key}$"


def _is_below_repository(directory: str) -> bool:
    place = Path(directory)
    try:
        return any((above / ".git").exists() for above in (place, *place.parents))
    except OSError:
        return False


def _text(outcome: Outcome) -> str | None:
    return outcome.output.decode(errors="replace").strip() or None
