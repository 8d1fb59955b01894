"""What an operation is: its address, the models of what goes in and out, and what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from claude_sessions.gateway.asking import Body, Query
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import Code
from claude_sessions.people import Caller

BASE = "/api/v1"


class NoQuery(Query):
    pass


class NoBody(Body):
    pass


class Resource(BaseModel):
    """Of an answer. It describes; what is given back is checked against it only in tests."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[Q, B]):
    id: str  # in the address; empty: there is none
    query: Q
    body: B
    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    data: Sequence[Any]
    has_more: bool = False
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[Q, B]):
    """`result`: None: an answer without a body. `many`: a page of such."""

    method: str
    path: str  # below `BASE`
    summary: str
    act: Callable[[House, Asked[Q, B]], Awaitable[Any]]
    query: type[Q]
    body: type[B]
    result: type[Resource] | None
    many: bool = False
    status: int = 200
    refusals: tuple[Code, ...] = ()
