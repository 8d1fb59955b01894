"""The three ways to an orchestrator. Each is tried twice; what fails is logged, never raised."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

import httpx
import structlog

from claude_sessions.approvals.visible import one_line
from claude_sessions.clock import Clock
from claude_sessions.origins import Address

MESSAGE_SECONDS = 15.0
EVENT_SECONDS = 30.0
RETRY_SECONDS = 5.0
LONGEST = 4000  # characters of a text; the system bounds an argument
OUTPUT = 2000  # bytes of what a command says that are kept
LEFT_OPEN_SECONDS = 0.5  # what a command left running may hold its output open

# The commands are the user's own, but what Claude or Telegram are trusted with is not theirs.
PASSED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "XDG_*"),
    "OPENCLAW_*",
)

Problem = str  # why it did not arrive; "": it did

logger = structlog.get_logger(__name__)


def environment(daemon: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in daemon.items()
        if any(fnmatchcase(name, pattern) for pattern in PASSED)
    }


class Roads:
    def __init__(
        self,
        *,
        message_command: Sequence[str] = (),
        event_command: Sequence[str] = (),
        webhook_url: str | None = None,
        env: Mapping[str, str],
        clock: Clock,
    ) -> None:
        self._message_command = tuple(message_command)
        self._event_command = tuple(event_command)
        self._webhook_url = webhook_url
        self._env = dict(env)
        self._clock = clock

    async def message(self, address: Address | None, text: str) -> None:
        if address is not None and self._message_command:
            argv = (*self._message_command, *_to(address), "-m", _plain(text))
            await self._insist("message", lambda: self._run(argv, MESSAGE_SECONDS))

    async def event(self, text: str) -> None:
        """A webhook that is there alone takes events too."""
        if self._event_command:
            argv = (*self._event_command, "--text", _plain(text), "--mode", "now")
            await self._insist("event", lambda: self._run(argv, EVENT_SECONDS))
        else:
            await self._call(text)

    async def wake(self, text: str) -> None:
        """For whom no address is known; without a webhook, an event says the same."""
        if self._webhook_url is not None:
            await self._call(text)
        else:
            await self.event(text)

    async def _call(self, text: str) -> None:
        if (url := self._webhook_url) is not None:
            await self._insist("webhook", lambda: self._post(url, text))

    async def _insist(self, road: str, attempt: Callable[[], Awaitable[Problem]]) -> None:
        if not await attempt():
            return
        await self._clock.sleep(RETRY_SECONDS)
        if problem := await attempt():
            logger.warning("orchestrator.unreachable", road=road, why=problem)

    async def _post(self, url: str, text: str) -> Problem:
        try:
            return await within(self._clock, EVENT_SECONDS, _posted(url, text))
        except TimeoutError:
            return f"no answer in {EVENT_SECONDS:g} s"

    async def _run(self, argv: Sequence[str], seconds: float) -> Problem:
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=self._env,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"{argv[0]} cannot be run: {getattr(error, 'strerror', None) or error}"
        try:
            return await within(self._clock, seconds, _ended(process))
        except TimeoutError:
            return f"{argv[0]} took more than {seconds:g} s and was stopped"
        finally:
            await asyncio.shield(_kill(process))


async def within(clock: Clock, seconds: float, work: Coroutine[Any, Any, Problem]) -> Problem:
    """Raises TimeoutError; by then the work has been cancelled."""
    doing = asyncio.ensure_future(work)
    limit = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({doing, limit}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise TimeoutError
        return doing.result()
    finally:
        for task in (doing, limit):
            task.cancel()
        await asyncio.gather(doing, limit, return_exceptions=True)


async def _posted(url: str, text: str) -> Problem:
    """The address may hold a secret: it is in no problem."""
    try:
        async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
            answer = await client.post(url, json={"text": _clean(text), "mode": "now"})
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return type(error).__name__
    return "" if answer.is_success else f"it answered {answer.status_code}"


async def _ended(process: Process) -> Problem:
    assert process.stdout is not None
    listening = asyncio.ensure_future(_last_words(process.stdout))
    try:
        code = await process.wait()
        await asyncio.wait([listening], timeout=LEFT_OPEN_SECONDS)
        said = listening.result() if listening.done() else ""
    finally:
        listening.cancel()
    return f"it ended with {code}: {said}" if code else ""


async def _last_words(output: asyncio.StreamReader) -> str:
    kept = b""
    while part := await output.read(OUTPUT):
        kept = (kept + part)[-OUTPUT:]
    return one_line(kept.decode(errors="replace"), 200)


async def _kill(process: Process) -> None:
    if process.returncode is None:  # else its number may be another's by now
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


# --- arguments


def _to(address: Address) -> tuple[str, ...]:
    account = _option("--account", address.account) if address.account else ()
    return (
        *_option("--channel", address.channel),
        *account,
        *_option("--target", address.target),
    )


def _option(name: str, value: str) -> tuple[str, ...]:
    value = _clean(value)
    return (f"{name}={value}",) if value.startswith("-") else (name, value)


def _plain(text: str) -> str:
    """Never a flag, whatever it begins with."""
    text = _clean(text)
    return f" {text}" if text.startswith("-") else text


def _clean(text: str) -> str:
    """What an argument cannot hold is left out."""
    return text[:LONGEST].replace("\0", "").encode(errors="replace").decode()
