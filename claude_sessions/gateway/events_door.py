"""The log as server-sent events, in our own words.

`GET /api/v1/events` and `GET /api/v1/sessions/{id}/events`. The first event is `stream.opened`: it
says where the log stands and whether what follows begins exactly where its reader left off.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.feed import Item
from claude_sessions.gateway import places, sse
from claude_sessions.gateway.asking import Query, queried
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.house import House
from claude_sessions.gateway.streaming import EventStream, Tongue
from claude_sessions.gateway.visits import Over
from claude_sessions.gateway.wire import Shared

OPENED = "stream.opened"
CLOSED = "stream.closed"
TYPE = re.compile(r"[a-z_]{1,32}(\.[a-z_]{1,32})*(\.\*)?|\*", re.ASCII)


def _is_types(given: str) -> str:
    if not all(TYPE.fullmatch(each) for each in given.split(",")):
        raise ValueError("types are names such as assistant.message or approval.*, with commas")
    return given


Types = Annotated[str, Field(max_length=2000), AfterValidator(_is_types)]


class EventsQuery(Query):
    after: Annotated[str | None, Field(description="A position; 0: from the beginning.")] = None
    types: Annotated[Types | None, Field(description="assistant.message,approval.*")] = None
    signals: Annotated[bool, Field(description="Also what is live only, as assistant.delta.")] = (
        False
    )
    plain: Annotated[bool, Field(description="Without names, for EventSource.onmessage.")] = False


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    named, plain = Shared(_form(house, named=True)), Shared(_form(house, named=False))

    def stream(visitor: Visitor, request: Request, session: str | None) -> Response:
        query = queried(EventsQuery, request)
        start = places.start(
            query.after,
            request.headers.get("last-event-id"),
            epoch=house.log.epoch,
            head=house.log.head,
        )
        opening = _opening(start, house.log.epoch, house.log.head, named=not query.plain)
        feed = house.log.follow(start.after, session, signals=query.signals)
        form = only(query.types, plain if query.plain else named)
        tongue = Tongue(form=form, opening=opening, closing=_closing(named=not query.plain))
        return EventStream(house.visits, visitor, feed, tongue)

    async def all_(visitor: Visitor, request: Request) -> Response:
        visitor.caller().must_be(c.Output.ROLE, c.Output.TO)
        return stream(visitor, request, None)

    async def one(visitor: Visitor, request: Request) -> Response:
        visitor.caller().must_be(c.Output.ROLE, c.Output.TO)
        state = await house.pool.book.find(request.path_params["id"])
        return stream(visitor, request, state.id)

    return [
        entrance.http("/api/v1/events", all_),
        entrance.http("/api/v1/sessions/{id}/events", one),
    ]


def kind_of(item: Item) -> str:
    return item.type if isinstance(item, e.Event) else item.TYPE


def wanted(types: str | None) -> Callable[[str], bool]:
    """`approval.*` is all that begins like that."""
    if types is None:
        return lambda kind: True
    names = frozenset(types.split(","))
    beginnings = tuple(name[:-1] for name in names if name.endswith("*"))
    return lambda kind: kind in names or kind.startswith(beginnings)


def only(types: str | None, form: Callable[[Item], bytes]) -> Callable[[Item], bytes]:
    if types is None:
        return form
    fits = wanted(types)
    return lambda item: form(item) if fits(kind_of(item)) else b""


def _form(house: House, *, named: bool) -> Callable[[Item], bytes]:
    def form(item: Item) -> bytes:
        place = places.place(item.epoch, item.seq) if isinstance(item, e.Event) else None
        return sse.frame(house.events(item), name=kind_of(item) if named else None, id_=place)

    return form


def _opening(start: places.Start, epoch: str, head: int, *, named: bool) -> bytes:
    payload = {
        "resume": start.resume,
        "epoch": epoch,
        "position": start.after,
        "head": head,
        **({"reason": start.why} if start.why else {}),
    }
    return _ours(OPENED, payload, named=named, id_=places.place(epoch, start.after))


def _closing(*, named: bool) -> Callable[[Over], bytes]:
    return lambda why: _ours(CLOSED, {"reason": why}, named=named)


def _ours(kind: str, payload: dict[str, Any], *, named: bool, id_: str | None = None) -> bytes:
    data = orjson.dumps({"type": kind, "payload": payload})
    return sse.frame(data, name=kind if named else None, id_=id_)
