"""What happened in a session, page by page: the same envelopes that the streams have."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, JsonValue

from claude_sessions import commands as c
from claude_sessions.codec import PAYLOADS
from claude_sessions.gateway.asking import Query
from claude_sessions.gateway.events_door import Types, wanted
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import INVALID, NOT_FOUND
from claude_sessions.gateway.rest.operation import Asked, NoBody, Operation, Page, Resource
from claude_sessions.gateway.wire import envelope


class TimelineQuery(Query):
    after_seq: Annotated[int, Field(ge=0, le=2**53, description="Of this session.")] = 0
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    types: Annotated[Types | None, Field(description="assistant.message,approval.*")] = None


class EnvelopeResource(Resource):
    id: str
    seq: Annotated[int, Field(description="Its place in the session, from 1.")]
    position: Annotated[int, Field(description="Its place in the log.")]
    epoch: str
    type: str
    version: int
    ts: str
    session_id: str | None = None
    project_id: str | None = None
    runner_id: str
    mode: str
    run_id: str | None = None
    correlation_id: Annotated[str | None, Field(description="Its turn.")] = None
    caller: str | None = None
    caused_by: str | None = None
    payload: dict[str, JsonValue]


async def shown(house: House, asked: Asked[TimelineQuery, NoBody]) -> Page:
    asked.caller.must_be(c.Output.ROLE, c.Output.TO)
    query = asked.query
    state = await house.pool.book.find(asked.id)
    after = 0
    if query.after_seq:
        place = await house.log.seq_of(state.id, nth=query.after_seq)
        if place is None:
            return Page(data=[])
        after = place
    found = await house.log.events(
        state.id, after=after, limit=query.limit + 1, types=_types(query.types)
    )
    page = found[: query.limit]
    last = str(page[-1].session_seq) if page else None
    more = len(found) > query.limit
    return Page(data=[envelope(event) for event in page], has_more=more, next_cursor=last)


def _types(given: str | None) -> list[str] | None:
    if given is None:
        return None
    exact = {name for name in given.split(",") if not name.endswith("*")}
    return sorted(exact | set(filter(wanted(given), PAYLOADS)))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/sessions/{id}/timeline",
        summary="What happened in a session. nextCursor is the last seq, for after_seq.",
        act=shown,
        query=TimelineQuery,
        body=NoBody,
        result=EnvelopeResource,
        many=True,
        refusals=(INVALID, NOT_FOUND),
    ),
)
