"""Tokens, and what stands behind every door."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from claude_sessions import commands as c
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods.base import Method, Nothing, Params, Shape
from claude_sessions.model import Role
from claude_sessions.people import Caller


class MakeParams(Params):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    role: Role = Role.VIEWER
    days: Annotated[float | None, Field(gt=0, le=3650)] = None
    """Until it expires; default: never."""


class RefParams(Params):
    ref: Annotated[str, Field(min_length=1)]
    """Its id or its name."""


class Issued(Shape):
    id: str
    name: str
    role: Role
    created_at: str
    created_by: str
    expires_at: str | None
    expired: bool


class Made(Issued):
    token: str


class Tokens(Shape):
    tokens: list[Issued]


async def tokens(house: House, params: Nothing, caller: Caller) -> Any:
    return (await house.perform(c.ListTokens(), caller)).data


async def make(house: House, params: MakeParams, caller: Caller) -> Any:
    command = c.MakeToken(name=params.name, role=params.role, days=params.days)
    return (await house.perform(command, caller)).data


async def revoke(house: House, params: RefParams, caller: Caller) -> Any:
    return (await house.perform(c.RevokeToken(token=params.ref), caller)).data


METHODS: tuple[Method[Any], ...] = (
    Method(
        name="claude-code.tokens",
        summary="The scoped tokens there are; never their secrets.",
        params=Nothing,
        result=Tokens,
        act=tokens,
    ),
    Method(
        name="claude-code.tokens.new",
        summary="Make a token for a program. It is shown this once.",
        params=MakeParams,
        result=Made,
        act=make,
    ),
    Method(
        name="claude-code.tokens.revoke",
        summary="A token, by its id or name, opens nothing from now on.",
        params=RefParams,
        result=Issued,
        act=revoke,
    ),
)
