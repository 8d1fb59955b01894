"""Every address there is."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from claude_sessions.gateway import rpc_door, runtime
from claude_sessions.gateway.answers import Answer
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.house import House


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    return [
        Route("/health", _live),
        Route("/ready", lambda request: _ready(house)),
        *rpc_door.routes(entrance, house),
        *runtime.routes(entrance, house),
    ]


async def _live(_request: Request) -> Response:
    return Answer({"status": "ok"})


async def _ready(house: House) -> Response:
    ready = house.log.trouble is None and not house.log.failed.is_set()
    return Answer({"status": "ready" if ready else "unavailable"}, 200 if ready else 503)
