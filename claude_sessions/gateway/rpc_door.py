"""JSON-RPC over HTTP and WebSocket."""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.websockets import WebSocket

from claude_sessions.gateway import rpc
from claude_sessions.gateway.answers import Answer
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.calls import answered
from claude_sessions.gateway.conversation import Conversation
from claude_sessions.gateway.entrance import Entrance, body_of
from claude_sessions.gateway.house import House
from claude_sessions.gateway.sockets import talked


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    async def call(visitor: Visitor, request: Request) -> Response:
        read = rpc.read(await body_of(request))
        entrance.charge(visitor, len(read.calls))
        answers = await answered(house, read, visitor.caller())
        return Answer(answers) if answers else Response(status_code=204)

    async def talk(visitor: Visitor, socket: WebSocket) -> None:
        with house.visits.begun(visitor) as visit:
            conversation = Conversation(house, visitor, partial(entrance.charge, visitor))
            await talked(socket, visit, conversation.works)

    return [entrance.http("/rpc", call, ["POST"]), entrance.socket("/rpc", talk)]
