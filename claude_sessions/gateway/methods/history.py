"""Events: pages of the log, and, over a WebSocket, all that follows."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Annotated, Any

import orjson
from pydantic import FailFast, Field

from claude_sessions import commands as c
from claude_sessions.errors import Conflict
from claude_sessions.events import Event
from claude_sessions.feed import Item
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods.base import Method, Params, Shape
from claude_sessions.gateway.places import Resume
from claude_sessions.model import Role
from claude_sessions.people import Caller

PAGE, LONGEST_PAGE = 100, 1000
SUBSCRIBE = "claude-code.subscribe"
UNSUBSCRIBE = "claude-code.unsubscribe"

Position = Annotated[int, Field(ge=0, lt=10**18)]
Kinds = Annotated[tuple[str, ...], FailFast(), Field(max_length=50)]


class EventsParams(Params):
    after: Position = 0
    """A place in the log; 0: its beginning."""
    session: str | None = None
    types: Kinds = ()
    """As `approval.*`; none: all."""
    limit: Annotated[int, Field(ge=1, le=LONGEST_PAGE)] = PAGE
    """How many are looked at: where `types` leaves some out there are fewer, or none."""


class SubscribeParams(Params):
    after: Position | None = None
    """A place in the log; default: from now on."""
    epoch: str | None = None
    """The log that `after` is a place in; default: this one."""
    session: str | None = None
    types: Kinds = ()
    """As `approval.*`; none: all."""
    signals: bool = False
    """Also what is live only, as assistant.delta."""


class UnsubscribeParams(Params):
    subscription: str


class Page(Shape):
    events: list[dict[str, Any]]
    position: int
    """Where the next page begins: its `after`."""
    has_more: bool
    epoch: str


class Subscribed(Shape):
    subscription: str
    resume: Resume
    position: int
    epoch: str


class Unsubscribed(Shape):
    subscription: str


async def events(house: House, params: EventsParams, caller: Caller) -> Any:
    """Bounded by what it reads, not by what it gives: a rare type may take several pages."""
    session = await session_of(house, params.session, caller)
    found = await house.log.events(session, after=params.after, limit=params.limit)
    wanted = wants(params.types)
    full = len(found) == params.limit
    return {
        "events": [orjson.Fragment(house.events(each)) for each in found if wanted(each)],
        "position": found[-1].seq if found else params.after,
        "hasMore": full and found[-1].seq < house.log.head,
        "epoch": house.log.epoch,
    }


async def session_of(house: House, ref: str | None, caller: Caller) -> str | None:
    caller.must_be(Role.VIEWER, c.Output.TO)
    return (await house.pool.book.find(ref)).id if ref is not None else None


def wants(types: tuple[str, ...]) -> Callable[[Item], bool]:
    """`approval.*` is a type too. None at all: everything."""
    exact = frozenset(each for each in types if "*" not in each)
    patterns = [each for each in types if "*" in each]

    def wanted(item: Item) -> bool:
        type_ = item.type if isinstance(item, Event) else item.TYPE
        return type_ in exact or any(fnmatchcase(type_, pattern) for pattern in patterns)

    return wanted if types else lambda item: True


METHODS: tuple[Method[Any], ...] = (
    Method(
        name="claude-code.events",
        summary="A page of what happened, oldest first.",
        params=EventsParams,
        result=Page,
        act=events,
    ),
)


async def _only_live(house: House, params: Params, caller: Caller) -> Any:
    raise Conflict("Events can be sent only on a WebSocket: connect to /rpc as one.")


LIVE: tuple[Method[Any], ...] = (
    Method(
        name=SUBSCRIBE,
        summary="Have events sent as they come, as claude-code.event, after any place in the log."
        " On a WebSocket only.",
        params=SubscribeParams,
        result=Subscribed,
        act=_only_live,
    ),
    Method(
        name=UNSUBSCRIBE,
        summary="No more of that subscription.",
        params=UnsubscribeParams,
        result=Unsubscribed,
        act=_only_live,
    ),
)
METHODS += LIVE
