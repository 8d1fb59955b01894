"""Who is connected: each connection belongs to one token, and ends with it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import structlog
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from starlette.requests import Request

from claude_sessions import commands as c
from claude_sessions.agreed import PLACE, WORKSPACE
from claude_sessions.errors import SessionsError
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.house import House
from claude_sessions.gateway.mcp.cap import DOOR
from claude_sessions.gateway.refusals import Refused
from claude_sessions.model import Role
from claude_sessions.people import Caller

KIND = "mcp"
OF_ONES_OWN = re.compile(r"[A-Za-z0-9]{16,64}")

Context = ServerRequestContext[Any, Request]

log = structlog.get_logger(__name__)


def visitor_of(context: Context) -> Visitor:
    assert context.request is not None
    visitor = context.request.state.visitor
    assert isinstance(visitor, Visitor)
    return visitor


def workspace_of(context: Context) -> str | None:
    assert context.request is not None
    return unquote(context.request.headers.get(WORKSPACE, "")) or None


def connection_of(context: Context) -> Connection:
    return context.session._connection  # mcp says cleanup belongs on it, and gives no other way


def channel_of(context: Context) -> str | None:
    return connection_of(context).state.get(KIND)


def agent(visitor: Visitor, channel: str | None) -> Caller:
    """Acts for the visitor, but not as the visitor: it may do less, and its deeds are its own."""
    role = Role.PROMPTER if visitor.role.covers(Role.PROMPTER) else visitor.role
    return Caller(
        name=f"{visitor.name}'s agent",
        role=role,
        door=DOOR,
        channel=channel,
        agent=True,
    )


def _place_of(context: Context, visitor: Visitor) -> str | None:
    """Of a bridge that makes its connection anew, over restarts of ours; nobody else's token's."""
    assert context.request is not None
    given = context.request.headers.get(PLACE, "")
    return f"{visitor.token or 'owner'}-{given}" if OF_ONES_OWN.fullmatch(given) else None


class Connections:
    """`cut` ends one from our side."""

    def __init__(self, house: House, cut: Callable[[str, Visitor], Awaitable[None]]) -> None:
        self._house = house
        self._cut = cut
        self._cutting: set[asyncio.Task[None]] = set()
        self._channels: dict[str, str] = {}  # by connection; those of one bridge share theirs

    def begin(self, context: Context) -> None:
        connection, visitor = connection_of(context), visitor_of(context)
        id_ = connection.session_id
        if id_ is None or KIND in connection.state:  # it says who it is once more
            return
        try:
            visit = connection.exit_stack.enter_context(self._house.visits.begun(visitor))
        except Refused as error:
            self._end(id_, visitor)
            raise MCPError(code=error.code.rpc, message=str(error)) from error
        channel = f"{KIND}|{_place_of(context, visitor) or id_}"
        connection.state[KIND] = self._channels[id_] = channel
        visit.over.add_done_callback(lambda _: self._end(id_, visitor))
        connection.exit_stack.push_async_callback(self._left, id_, agent(visitor, channel))

    def _end(self, connection: str, visitor: Visitor) -> None:
        task = asyncio.ensure_future(self._cut(connection, visitor))
        self._cutting.add(task)
        task.add_done_callback(self._cutting.discard)

    async def ended(self) -> None:
        if self._cutting:
            await asyncio.wait(self._cutting)

    async def _left(self, connection: str, caller: Caller) -> None:
        del self._channels[connection]
        if caller.channel not in self._channels.values():  # else it has been made anew
            await self._leave(caller)

    async def _leave(self, caller: Caller) -> None:
        """What it had in the foreground nobody watches any longer."""
        try:
            await self._house.perform(c.Background(polled=True), caller)
        except SessionsError as error:  # no room; the next start puts it right
            log.warning("mcp.not_left", channel=caller.channel, why=str(error))

    async def forget_the_lost(self) -> None:
        """Those of a daemon that did not end by itself."""
        for channel in await asyncio.to_thread(self._house.log.store.fronts_of, KIND):
            lost = Caller(name="the daemon", role=Role.VIEWER, door=DOOR, channel=channel)
            await self._leave(lost)
