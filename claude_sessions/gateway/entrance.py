"""Routes whose handlers are only reached by visitors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from claude_sessions.cause import because
from claude_sessions.errors import SessionsError
from claude_sessions.gateway.answers import refusal, request_id_of
from claude_sessions.gateway.auth import DOOR, Doorkeeper, Visitor
from claude_sessions.gateway.guard import deny
from claude_sessions.gateway.refusals import INTERNAL, TIMEOUT, Refused, refused

BODY_SECONDS = 20.0

Handler = Callable[[Visitor, Request], Awaitable[Response]]
Talk = Callable[[Visitor, WebSocket], Awaitable[None]]

log = structlog.get_logger(__name__)


class Paced(WebSocket):
    """Who says too much too fast is read from more slowly: nothing of it is lost."""

    def __init__(self, socket: WebSocket, count: Callable[[], None]) -> None:
        super().__init__(socket.scope, socket.receive, socket.send)
        self._count = count

    async def receive(self) -> Message:
        await asyncio.sleep(0)  # what waits in a row is heard between what others do
        message = await super().receive()
        while message["type"] == "websocket.receive":
            try:
                self._count()
                break
            except Refused as error:
                await asyncio.sleep(error.retry_after or 1.0)
        return message


class Entrance:
    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper
        self.charge = keeper.charge

    def http(self, path: str, handler: Handler, methods: Sequence[str] = ("GET",)) -> BaseRoute:
        """Whatever the handler raises becomes an answer with a code."""

        async def endpoint(request: Request) -> Response:
            request_id = request_id_of(request.scope)
            try:
                visitor = self._keeper.admit(request)
                with because(f"{DOOR}#{request_id}"):
                    answer = await handler(visitor, request)
                log.debug(
                    "gateway.answered",
                    method=request.method,
                    path=request.url.path,
                    status=answer.status_code,
                    by=visitor.name,
                )
                return answer
            except Refused as error:
                return refusal(error, request_id)
            except SessionsError as error:
                return refusal(refused(error), request_id)
            except ClientDisconnect:
                return Response(status_code=400)  # nobody reads it
            except Exception:
                log.exception("gateway.failed", path=request.url.path)
                said = "That went wrong on our side. The log says more."
                return refusal(Refused(INTERNAL, said), request_id)

        return Route(path, endpoint, methods=list(methods))

    def socket(self, path: str, talk: Talk) -> BaseRoute:
        """The connection is accepted by the handler, which may still refuse it before that."""

        async def endpoint(socket: WebSocket) -> None:
            try:
                visitor = self._keeper.admit(socket)
                await talk(visitor, Paced(socket, partial(self._keeper.count, visitor)))
            except Refused as error:
                if socket.client_state is not WebSocketState.CONNECTING:
                    raise
                await deny(error, socket)
            except WebSocketDisconnect:
                pass

        return WebSocketRoute(path, endpoint)


async def body_of(request: Request) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.body()
    except TimeoutError:
        raise Refused(TIMEOUT, f"The body did not come within {BODY_SECONDS:g} s.") from None
