"""The table of operations as routes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from claude_sessions.gateway import openapi
from claude_sessions.gateway.answers import Answer
from claude_sessions.gateway.asking import queried, told
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.house import House
from claude_sessions.gateway.rest import TABLE
from claude_sessions.gateway.rest.operation import BASE, Asked, NoBody, Operation, Page


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    return [
        Route(f"{BASE}/health", _live),
        Route(f"{BASE}/openapi.json", _document),
        *_routes(TABLE, entrance, house),
    ]


def _routes(
    table: Sequence[Operation[Any, Any]], entrance: Entrance, house: House
) -> list[BaseRoute]:
    """One for each address, so that a wrong method is answered with the right ones."""
    by_path = groupby(sorted(table, key=lambda o: o.path), key=lambda o: o.path)
    return [_route(path, list(operations), entrance, house) for path, operations in by_path]


def _route(
    path: str, operations: list[Operation[Any, Any]], entrance: Entrance, house: House
) -> BaseRoute:
    by_method = {operation.method: operation for operation in operations}

    async def answer(visitor: Visitor, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await _answer(by_method[method], house, visitor, request)

    return entrance.http(f"{BASE}{path}", answer, list(by_method))


async def _answer(
    operation: Operation[Any, Any], house: House, visitor: Visitor, request: Request
) -> Response:
    asked = Asked(
        id=next(iter(request.path_params.values()), ""),
        query=queried(operation.query, request),
        body=NoBody() if operation.body is NoBody else await told(operation.body, request),
        caller=visitor.caller(),
    )
    found = await operation.act(house, asked)
    if operation.result is None:
        return Response(status_code=operation.status)
    return Answer(_wrapped(found), operation.status)


def _wrapped(found: Any) -> dict[str, Any]:
    if not isinstance(found, Page):
        return {"data": found}
    pagination: dict[str, Any] = {"hasMore": found.has_more}
    if found.next_cursor is not None:
        pagination["nextCursor"] = found.next_cursor
    return {"data": found.data, "pagination": pagination}


async def _live(_request: Request) -> Response:
    return Answer({"data": {"status": "ok"}})


async def _document(_request: Request) -> Response:
    return Answer(openapi.document())
