"""A stand-in for the Messages API on loopback, speaking from a script to the real CLI."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self
from uuid import uuid4

import orjson

from claude_sessions.demo import http
from claude_sessions.demo.outlet import Stream, Whole
from claude_sessions.demo.player import Player
from claude_sessions.demo.request import Ending, Request, read_request
from claude_sessions.demo.script import Answer, Script
from claude_sessions.demo.steps import Headers
from claude_sessions.demo.wire import cues, failure


def new_id(kind: str) -> str:
    return f"{kind}_{uuid4().hex[:24]}"


class ScriptedModel:
    """Serves a script to any number of CLIs; `async with` it and point them to `url`.

    What a script raises is answered with a 403, which the CLI does not try again, and raised when
    the model is left.
    """

    def __init__(
        self, script: Script, *, port: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.requests: list[Request] = []
        self.side_requests: list[Request] = []
        self._script = script
        self._port = port
        self._clock = clock
        self._player = Player()
        self._news = asyncio.Condition()
        self._errors: list[Exception] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._stopping = False

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def count(self) -> int:
        """How many requests of conversations have come."""
        return len(self.requests)

    def prompts(self) -> list[str]:
        """What users said to sessions, in order; a request that the CLI repeats counts again."""
        return [
            request.prompt
            for request in self.requests
            if request.answers == 0 and not request.agent_id and not request.notified
        ]

    def about(self, text: str) -> list[Request]:
        """The requests whose newest prompt, or a word steered into its turn, contains `text`."""
        return [r for r in self.requests if any(text in said for said in (r.prompt, *r.steered))]

    async def asked(self, text: str, *, count: int = 1, timeout: float = 10) -> Request:  # noqa: ASYNC109
        """Wait for the `count`-th request about `text`."""
        async with asyncio.timeout(timeout), self._news:
            await self._news.wait_for(lambda: len(self.about(text)) >= count)
        return self.about(text)[count - 1]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._stopping = True
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._errors and error is None:
            raise ExceptionGroup("the script failed", self._errors)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._serve(reader, writer), name="model connection")
        self._connections.add(connection)
        connection.add_done_callback(self._disconnected)
        # A task cancelled before its first step would leave the socket open.
        connection.add_done_callback(lambda _: writer.transport.abort())

    def _disconnected(self, connection: asyncio.Task[None]) -> None:
        self._connections.discard(connection)
        error = None if connection.cancelled() else connection.exception()
        if isinstance(error, Exception):
            self._errors.append(error)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            call = await http.read_call(reader)
            while call is not None:
                call = await self._exchange(call, reader, writer)
        finally:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _exchange(
        self, call: http.Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> http.Call | None:
        """Answer a call and give the next; reading on is how a client's leaving is noticed."""
        answering = asyncio.create_task(self._answer(call, writer), name="model answer")
        reading = asyncio.create_task(http.read_call(reader), name="model next call")
        try:
            await asyncio.wait({answering, reading}, return_when=asyncio.FIRST_COMPLETED)
            if not (reading.done() and reading.result() is None):
                await answering
            return await reading
        finally:
            answering.cancel()
            reading.cancel()
            await asyncio.gather(answering, reading, return_exceptions=True)

    async def _answer(self, call: http.Call, writer: asyncio.StreamWriter) -> None:
        match call.method, call.path:
            case "POST", "/v1/messages":
                request = read_request(orjson.loads(call.body), call.headers, self._clock())
                await self._record(request)
                await self._settle(request, writer)
            case "POST", "/v1/messages/count_tokens":
                writer.write(http.plain(200, {"input_tokens": len(call.body) // 4}))
            case _:
                writer.write(http.plain(404, failure("not_found_error", "Not found")))

    async def _record(self, request: Request) -> None:
        async with self._news:
            (self.side_requests if request.side else self.requests).append(request)
            self._news.notify_all()

    async def _settle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        """Perform the answer and write down how it ended."""
        try:
            request.fate.end(await self._perform(request, writer))
        except asyncio.CancelledError:
            request.fate.end(Ending.STOPPED if self._stopping else Ending.DROPPED)
            raise
        except ConnectionError:
            request.fate.end(Ending.DROPPED)
        except Exception as error:  # noqa: BLE001 - a script may raise anything
            self._errors.append(error)
            request.fate.end(Ending.FAULTED)
            if request.fate.status is not None:
                writer.transport.abort()
                return
            request.fate.status = 403
            writer.write(http.plain(403, failure("permission_error", f"script: {error!r}")))

    async def _perform(self, request: Request, writer: asyncio.StreamWriter) -> Ending:
        answer = self._script.answer(request)
        shape = Stream if request.stream else Whole
        outlet = shape(writer, request.fate, response_headers(answer))
        return await self._player.play(cues(answer, request, new_id), outlet)


def response_headers(answer: Answer) -> dict[str, str]:
    found = {"request-id": new_id("req")}
    for step in answer.steps:
        if isinstance(step, Headers):
            found.update(step.values)
    return found
