"""Every address there is."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from claude_sessions.gateway import event_sourced, events_door, rpc_door, runtime, terminal
from claude_sessions.gateway.answers import Answer
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.house import House
from claude_sessions.gateway.mcp import door as mcp_door
from claude_sessions.gateway.metrics import CONTENT
from claude_sessions.gateway.rest import door as rest


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    async def ready(_request: Request) -> Response:
        well = house.log.trouble is None and not house.log.failed.is_set()
        return Answer({"status": "ready" if well else "unavailable"}, 200 if well else 503)

    async def metrics(visitor: Visitor, _request: Request) -> Response:
        return Response(house.meter.read(), media_type=CONTENT)

    return [
        Route("/health", _live),
        Route("/ready", ready),
        entrance.http("/metrics", metrics),
        *rpc_door.routes(entrance, house),
        *events_door.routes(entrance, house),
        *event_sourced.routes(entrance, house),
        *rest.routes(entrance, house),
        *mcp_door.routes(entrance, house),
        *terminal.routes(entrance, house),
        *runtime.routes(entrance, house),
    ]


async def _live(_request: Request) -> Response:
    return Answer({"status": "ok"})
