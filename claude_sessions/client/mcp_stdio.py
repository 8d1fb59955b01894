"""`claude-sessions mcp`: what an agent says on stdin goes to the daemon's `/mcp`, and back.

The daemon does all of it, so there is one truth, however many agents start this. It outlives the
daemon: a connection that is gone is made anew, in the same words, before the next request.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import httpx
import orjson

from claude_sessions.agreed import LONGEST, PLACE, WORKSPACE
from claude_sessions.client.address import Address, Given, locate
from claude_sessions.client.exits import Exit, Failed
from claude_sessions.errors import SessionsError

PATH = "/mcp"
SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CONNECT_SECONDS = 5.0
LEAVING_SECONDS = 5.0  # for answers that are on their way when the agent leaves
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603

Message = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the daemon is to be found, and what lets us in."""

    home: Path
    url: str | None = None
    token_file: Path | None = None

    @property
    def address(self) -> str:
        return self._located.url

    @property
    def token(self) -> str:
        return self._located.token

    @property
    def _located(self) -> Address:
        given = Given(url=self.url, token_file=self.token_file, home=self.home)
        try:
            return locate(given, os.environ)
        except Failed as error:
            raise (self.silent() if error.exit is Exit.AWAY else error) from None

    def silent(self) -> Failed:
        where = f"at {self.url}" if self.url is not None else f"on {self.home}"
        said = (
            f"No daemon answers {where}. Start it with `claude-sessions run`, or say where it is "
        )
        return Failed(f"{said}with --home or --url.", Exit.AWAY)


class Refused(Exception):
    """The daemon did not do it; its text says why."""


class Gone(Exception):
    """The daemon does not know our connection, or there is nobody: nothing was done."""


@dataclass(slots=True)
class Pump:
    """`say` puts a line out to the agent."""

    place: Place
    http: httpx.AsyncClient
    say: Callable[[bytes], None]
    _place: str = field(default_factory=lambda: secrets.token_hex(16))
    _hello: Message | None = None  # the agent's own, to be said again
    _headers: dict[str, str] = field(default_factory=dict)
    _meeting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _group: asyncio.TaskGroup = field(default_factory=asyncio.TaskGroup)
    _listening: asyncio.Task[None] | None = None

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Until the agent leaves."""
        async with self._group as group:
            asking: set[asyncio.Task[None]] = set()
            async for line in lines:
                if (message := self._read(line)) is None:
                    continue
                if "id" not in message or message.get("method") == "initialize":
                    await self._pass(message)  # what follows relies on it
                else:
                    asking.add(task := group.create_task(self._pass(message), name="mcp.request"))
                    task.add_done_callback(asking.discard)
            if asking:
                await asyncio.wait(asking, timeout=LEAVING_SECONDS)
            for task in (*asking, *filter(None, [self._listening])):
                task.cancel()
        await self._leave()

    def _read(self, line: bytes) -> Message | None:
        if not line.strip():
            return None
        try:
            message = orjson.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self._answer({}, PARSE_ERROR, "This is no JSON-RPC message: send one object a line.")
            return None
        if len(line) > LONGEST:  # told here: the daemon would hang up before it has read all
            self._answer(message, INVALID_REQUEST, f"A message may have {LONGEST} bytes.")
            return None
        return message

    async def _pass(self, message: Message) -> None:
        """Any failure is told to whoever asked."""
        try:
            answer = await self._asked(message)
        except (Refused, SessionsError) as error:
            self._answer(message, INTERNAL_ERROR, str(error))
        else:
            if answer is not None and "id" in message:
                self.say(orjson.dumps(answer))

    async def _asked(self, message: Message) -> Message | None:
        if message.get("method") == "initialize":
            self._hello = message
            return await self._meet(message)
        before = self._headers
        try:
            answer = await self._post(message, before)
        except Gone:
            await self._meet_again(before)
        else:
            if message.get("method") == INITIALIZED["method"]:
                self._listen()
            return answer
        try:
            return await self._post(message, self._headers)
        except Gone:
            raise self.place.silent() from None

    async def _meet(self, hello: Message) -> Message | None:
        """A connection, which all that follows belongs to. Until there is one, the last counts."""
        here = quote(os.getcwd())
        headers = {
            "authorization": f"Bearer {self.place.token}",
            WORKSPACE: here,
            PLACE: self._place,
        }
        try:
            answer = await self._post(hello, headers)
        except Gone:
            raise self.place.silent() from None
        version = ((answer or {}).get("result") or {}).get("protocolVersion")
        if isinstance(version, str):
            headers[VERSION] = version
        self._headers = headers
        return answer

    async def _meet_again(self, lost: dict[str, str]) -> None:
        async with self._meeting:
            if self._headers is not lost or self._hello is None:
                return  # another request was first, or there never was one
            await self._meet(self._hello)
            with suppress(Gone):
                await self._post(INITIALIZED, self._headers)
            self._listen()

    async def _post(self, message: Message, headers: dict[str, str]) -> Message | None:
        """Only what was certainly not done may be said again: else a session is launched twice."""
        try:
            answer = await self.http.post(
                f"{self.place.address}{PATH}",
                content=orjson.dumps(message),
                headers={
                    **headers,
                    "content-type": "application/json",
                    "accept": "application/json, text/event-stream",
                },
            )
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise Gone from None
        except httpx.HTTPError as error:
            raise Refused(
                f"The daemon went away before it answered ({type(error).__name__}). "
                "claude_sessions shows what came of it."
            ) from error
        if answer.status_code == 404 and SESSION in headers:
            raise Gone
        if (id_ := answer.headers.get(SESSION)) is not None and SESSION not in headers:
            headers[SESSION] = id_
        return _body(answer)

    # --- the stream that keeps the connection ours

    def _listen(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
        self._listening = self._group.create_task(self._hear(self._headers), name="mcp.stream")

    async def _hear(self, headers: dict[str, str]) -> None:
        """The daemon takes a connection without it for left after a while."""
        accept = {"accept": "text/event-stream"}
        with suppress(httpx.HTTPError, SessionsError):
            url = f"{self.place.address}{PATH}"
            async with self.http.stream("GET", url, headers={**headers, **accept}) as stream:
                async for line in stream.aiter_lines():
                    if line.startswith("data: {"):
                        self.say(line.removeprefix("data: ").encode())

    async def _leave(self) -> None:
        if SESSION not in self._headers:
            return
        with suppress(httpx.HTTPError, SessionsError):
            url = f"{self.place.address}{PATH}"
            await self.http.delete(url, headers=self._headers, timeout=LEAVING_SECONDS)

    def _answer(self, message: Message, code: int, problem: str) -> None:
        if "id" in message or not message:
            error = {"code": code, "message": problem}
            self.say(orjson.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": error}))


def _body(answer: httpx.Response) -> Message | None:
    """None: it was taken, and there is nothing to say."""
    try:
        told = orjson.loads(answer.content) if answer.content else None
    except ValueError:
        told = None
    if answer.is_success and (told is None or isinstance(told, dict)):
        return told
    error = told.get("error") if isinstance(told, dict) else None
    said = error.get("message") if isinstance(error, dict) else None
    raise Refused(str(said or f"The daemon answered with HTTP {answer.status_code}."))


# --- the process


def pump_stdio(place: Place) -> None:
    """Until stdin ends. Raises a `SessionsError` if there is no daemon to begin with."""
    asyncio.run(_pumped(place))


async def _pumped(place: Place) -> None:
    timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
    async with httpx.AsyncClient(timeout=timeout, trust_env=False) as http:  # never by a proxy
        place.token  # noqa: B018 - said now, not at the first request
        try:
            await http.get(f"{place.address}/health", timeout=CONNECT_SECONDS)
        except (httpx.HTTPError, httpx.InvalidURL):
            raise place.silent() from None
        await Pump(place, http, _say).run(_lines(sys.stdin.buffer))


def _say(line: bytes) -> None:
    with suppress(BrokenPipeError):  # then stdin ends as well
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


async def _lines(source: BinaryIO) -> AsyncIterator[bytes]:
    if not _can_be_waited_for(source):
        while line := await asyncio.to_thread(source.readline):
            yield line
        return
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=2 * LONGEST)
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, pipe.close)  # as if the agent had left
    try:
        while True:
            try:
                if not (line := await reader.readline()):
                    return
            except ValueError:  # longer than any request may be
                line = b"too long"
            yield line
    finally:
        pipe.close()


def _can_be_waited_for(source: BinaryIO) -> bool:
    kind = os.fstat(source.fileno()).st_mode
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or source.isatty()
