"""The address at which clients of the event-sourced seed follow a session, in their own dialect.

`GET /sessions/{id}/events?history=true&fromPosition=N`. Unlike there, a subscription begins before
history is read, the headers are sent at once, and a `Last-Event-ID` of that session is honoured.
A session that does not exist is a silent stream, as there.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from claude_sessions import commands as c
from claude_sessions.errors import NotFound
from claude_sessions.gateway import dialect_b
from claude_sessions.gateway.answers import Answer
from claude_sessions.gateway.asking import Query, queried
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import Refused
from claude_sessions.gateway.streaming import EventStream, Tongue
from claude_sessions.gateway.wire import Shared
from claude_sessions.model import NAME


def _is_position(given: str) -> str:
    if re.fullmatch(r"[0-9]{1,15}", given, re.ASCII) is None:
        raise ValueError("fromPosition must be a number")
    return given


class SessionEventsQuery(Query):
    model_config = ConfigDict(extra="ignore")  # clients of the seed may send what it never read

    history: str = ""
    from_position: Annotated[
        Annotated[str, AfterValidator(_is_position)] | None, Field(alias="fromPosition")
    ] = None
    plain: bool = False


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    names = partial(_name, house)
    named = Shared(partial(dialect_b.frame, names=names))
    plain = Shared(partial(dialect_b.frame, names=names, named=False))

    async def events(visitor: Visitor, request: Request) -> Response:
        visitor.caller().must_be(c.Output.ROLE, c.Output.TO)
        ref = request.path_params["id"]
        if NAME.fullmatch(ref.casefold()) is None:  # ours, and any UUID, would fit
            return Answer({"error": "invalid session id"}, 400)
        try:
            query = queried(SessionEventsQuery, request)
        except Refused as error:
            return Answer({"error": str(error)}, 400)
        session = await _session(house, ref)
        after = await _after(house, session, query, request.headers.get("last-event-id"))
        feed = house.log.follow(after, session)
        return EventStream(house.visits, visitor, feed, Tongue(plain if query.plain else named))

    return [entrance.http("/sessions/{id}/events", events)]


async def _session(house: House, ref: str) -> str:
    try:
        return (await house.pool.book.find(ref)).id
    except NotFound:
        return str(ref)


def _name(house: House, session: str) -> str:
    row = house.log.store.session_row(session)
    return row.name if row is not None else session


async def _after(
    house: House, session: str, query: SessionEventsQuery, last_id: str | None
) -> int | None:
    if last_id and (seq := await house.log.seq_of(session, event=last_id)) is not None:
        return seq
    if query.history not in ("true", "1"):
        return None
    first = int(query.from_position or 0)
    if first == 0:
        return 0
    return await house.log.seq_of(session, nth=first)  # None: there is no history from there on
