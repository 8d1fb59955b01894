"""The server: uvicorn in the daemon's own loop, on a port that is taken before anybody hears of it.

The order of the layers: `patience.py` (silence), `Guard` (where from, how big), `Entrance` (who),
then the dialects.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from claude_sessions.agreed import LONGEST
from claude_sessions.errors import ConfigError
from claude_sessions.gateway.answers import refusal, request_id_of
from claude_sessions.gateway.auth import Doorkeeper
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.guard import MAX_HEADERS, Guard
from claude_sessions.gateway.house import House
from claude_sessions.gateway.patience import Impatient, Patient
from claude_sessions.gateway.refusals import METHOD_NOT_ALLOWED, NOT_FOUND, Refused
from claude_sessions.gateway.routes import routes
from claude_sessions.places import ADDRESS
from claude_sessions.settings import GatewaySettings
from claude_sessions.token_file import owners_token

ASKED = ("Authorization", "Content-Type", "Last-Event-ID", "X-Request-Id")  # by pages
MCP = ("Mcp-Session-Id", "Mcp-Protocol-Version")
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # listened on, and how it is reached from here
BACKLOG = 512
FILES = 8192
STOP_SECONDS = 3.0
PING_SECONDS = 20.0

log = structlog.get_logger(__name__)


class Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the daemon hears them


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """An open one."""

    url: str
    app: Starlette


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What can be wrong with the configuration is known before anything else begins."""

    listener: socket.socket
    token: str

    @property
    def url(self) -> str:
        """Where it is reached from here."""
        host, port = self.listener.getsockname()[:2]
        host = EVERYWHERE.get(host, host)
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextlib.contextmanager
def claimed(settings: GatewaySettings, home: Path) -> Iterator[Claim]:
    token = owners_token(settings.token_file, home)
    _make_room()
    with contextlib.closing(_listener(settings.host, settings.port)) as listener:
        yield Claim(listener=listener, token=token)


@asynccontextmanager
async def open_gateway(
    settings: GatewaySettings, house: House, keeper: Doorkeeper, claim: Claim, home: Path
) -> AsyncIterator[Gateway]:
    app = application(settings, routes(Entrance(keeper), house))
    async with house.open():
        server = Server(_configured(app))
        serving = asyncio.create_task(server.serve(sockets=[claim.listener]), name="gateway")
        house.pool.tokens.on_revoked = house.visits.revoked
        (home / ADDRESS).write_text(f"{claim.url}\n", encoding="utf-8")
        try:
            yield Gateway(url=claim.url, app=app)
        finally:
            (home / ADDRESS).unlink(missing_ok=True)
            house.visits.stop()
            server.should_exit = True
            await asyncio.wait([serving])
    if not serving.cancelled() and (failure := serving.exception()) is not None:
        log.error("gateway.failed", exc_info=failure)


def application(settings: GatewaySettings, routes: list[BaseRoute]) -> Starlette:
    middleware = [Middleware(Guard, hosts=_hosts(settings), origins=settings.allowed_origins)]
    if settings.allowed_origins:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(settings.allowed_origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=[*ASKED, *MCP],
                expose_headers=["X-Request-Id", "Retry-After", *MCP],
            )
        )
    return Starlette(
        routes=routes,
        middleware=middleware,
        exception_handlers={404: _not_found, 405: _wrong_method, Refused: _refused},
    )


def _hosts(settings: GatewaySettings) -> list[str]:
    own = settings.host.lower()
    return [f"[{own}]" if ":" in own else own, *map(str.lower, settings.allowed_hosts)]


async def _not_found(request: Request, _error: Exception) -> Response:
    missing = Refused(NOT_FOUND, f"There is nothing at {request.url.path[:200]}.")
    return refusal(missing, request_id_of(request.scope))


async def _wrong_method(request: Request, error: Exception) -> Response:
    wrong = Refused(METHOD_NOT_ALLOWED, f"{request.method[:20]} is not possible there.")
    answer = refusal(wrong, request_id_of(request.scope))
    answer.headers.update(getattr(error, "headers", None) or {})  # Allow
    return answer


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return refusal(error, request_id_of(request.scope))


def _configured(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Patient,
        ws=Impatient,
        lifespan="off",
        log_config=None,
        access_log=False,  # it would quote addresses with tokens in them
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=MAX_HEADERS,
        ws_max_size=LONGEST,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=int(STOP_SECONDS),
    )


def _make_room() -> None:
    """Each connection is an open file, and many systems allow a program few unless it asks."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio sends what is small at once: else each answer takes 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        reason = f"{host}:{port} cannot be listened on ({error.strerror})"
        remedy = "choose another gateway.port, or set gateway.enabled = false"
        raise ConfigError([f"gateway: {reason}; {remedy}"]) from error
    return listener
