"""What every request passes before anybody asks whose it is: where it is from and how big it is.

A page that a browser has open must not reach us: its `Host` would be a name that was rebound to
this machine, or its `Origin` another site's.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from claude_sessions.agreed import LONGEST
from claude_sessions.gateway.answers import refusal, request_id_of
from claude_sessions.gateway.refusals import (
    FORBIDDEN,
    HEADERS_TOO_LARGE,
    MISDIRECTED,
    TOO_LARGE,
    Refused,
)
from claude_sessions.model import new_id

HERE = ("127.0.0.1", "localhost", "[::1]")
MAX_HEADERS = 32 * 1024  # with the address
BEGINS = ("http.response.start", "websocket.http.response.start", "websocket.accept")
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

log = structlog.get_logger(__name__)


class Guard:
    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str] = (), origins: Collection[str] = ()
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in (*HERE, *hosts))
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope.setdefault("state", {})["request_id"] = request_id = _request_id(headers)
        send = _with_id(send, request_id)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                _check_size(scope)
                self._check(headers)
            except Refused as error:
                await refuse(error, scope, receive, send)
            else:
                await self._app(scope, _Bounded(receive), send)

    def _check(self, headers: Headers) -> None:
        host = headers.get("host", "").lower()
        if host not in self._hosts and _without_port(host) not in self._hosts:
            raise Refused(MISDIRECTED, "This host name is not one of [gateway] allowed_hosts.")
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin.lower(), host):
            raise Refused(FORBIDDEN, "This origin is not one of [gateway] allowed_origins.")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > LONGEST:
            raise Refused(TOO_LARGE, f"A body may have {LONGEST} bytes.")

    def _is_ours(self, origin: str, host: str) -> bool:
        return origin in self._origins or origin in (f"http://{host}", f"https://{host}")


class _Bounded:
    """A body of unknown length is counted as it comes.

    The connection of one that is too large stays open: many programs read no answer before they
    have sent all. What they still send is passed over, and `patience.py` says for how long.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            if self._bytes > LONGEST:
                raise Refused(TOO_LARGE, f"A body may have {LONGEST} bytes.")
        return message


def _check_size(scope: Scope) -> None:
    """uvicorn's own limit is for headers that come in parts."""
    size = len(scope["raw_path"]) + len(scope["query_string"])
    if size + sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADERS:
        said = f"The address and the headers may have {MAX_HEADERS} bytes together."
        raise Refused(HEADERS_TOO_LARGE, said)


def _without_port(host: str) -> str:
    return re.sub(r":[0-9]{1,5}\Z", "", host)


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if REQUEST_ID.fullmatch(given) else new_id()


def _with_id(send: Send, request_id: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] in BEGINS:
            headers = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            message = {**message, "headers": headers}
        await send(message)

    return sending


async def refuse(error: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await deny(error, WebSocket(scope, receive, send))
    else:
        log.info("gateway.refused", code=error.code.name, path=scope["path"])
        await refusal(error, request_id_of(scope))(scope, receive, send)


async def deny(error: Refused, socket: WebSocket) -> None:
    """A WebSocket that is not opened is answered like any other request."""
    log.info("gateway.refused", code=error.code.name, path=socket.scope["path"])
    await socket.receive()  # its wish to connect
    await socket.send_denial_response(refusal(error, request_id_of(socket.scope)))
