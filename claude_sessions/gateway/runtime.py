"""The runtime envelope on `WS /ws`.

`?session=NAME` binds a connection: it hears of that session only, and of every command; `abort`
and `resume` act on it. `?replay=SEQ` begins with what happened after that place in the log; the
frames of such a connection carry `seq` beside `event`, which is the place to come back with. A
place that this log has not reached is another log's: then all there is follows.

Commands need a role, which the seed does not know. Those of a viewer are not even echoed: whoever
may only look makes nobody else look at anything.
"""

from __future__ import annotations

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute
from starlette.websockets import WebSocket

from claude_sessions.cause import because
from claude_sessions.errors import SessionsError
from claude_sessions.gateway.answers import request_id_of
from claude_sessions.gateway.auth import DOOR, Visitor
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import INVALID, Refused, refused
from claude_sessions.gateway.runtime_cast import Listener
from claude_sessions.gateway.runtime_commands import MISSING_RUN, Ignored, Received, read
from claude_sessions.gateway.runtime_wishes import NotDone, Wishes
from claude_sessions.gateway.sockets import Line, talked
from claude_sessions.model import Role
from claude_sessions.people import Caller

PATH = "/ws"
LAST_PLACE = 2**63 - 1

log = structlog.get_logger(__name__)


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    async def talk(visitor: Visitor, socket: WebSocket) -> None:
        after = _after(socket.query_params.get("replay"), house.log.head)
        session = await _bound(house, socket.query_params.get("session"))
        with house.visits.begun(visitor) as visit:
            listener = Listener(visit, session)
            if after is None:
                house.runtime.join(listener)  # before its client can know that it is connected
            ear = Ear(house, visitor.caller(), session, request_id_of(socket.scope))
            try:
                await talked(
                    socket,
                    visit,
                    lambda line: [ear.listen(line), _speak(house, line, listener, after)],
                )
            finally:
                house.runtime.leave(listener)

    return [entrance.socket(PATH, talk), entrance.http(PATH, _upgrade_required)]


async def _upgrade_required(_visitor: Visitor, _request: Request) -> Response:
    return PlainTextResponse("Upgrade required", 426, {"upgrade": "websocket"})


def _after(text: str | None, head: int) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LAST_PLACE):
        raise Refused(INVALID, "replay is a place in the log: a number from 0.")
    return int(text) if int(text) <= head else 0


async def _bound(house: House, ref: str | None) -> str | None:
    try:
        return (await house.pool.book.find(ref)).id if ref else None
    except SessionsError as error:
        raise refused(error) from error


async def _speak(house: House, line: Line, listener: Listener, after: int | None) -> None:
    if after is not None:
        async for frame in house.runtime.replay(listener, after):
            await line.send(frame.placed)
    while True:
        for frame in await listener.take():
            await line.send(frame.text if after is None else frame.placed)


class Ear:
    """What one connection's client says, one after the other. Whatever it is, we go on."""

    def __init__(self, house: House, caller: Caller, session: str | None, request_id: str) -> None:
        self._house = house
        self._caller = caller
        self._wishes = Wishes(house, caller, session)
        self._cause = f"{DOOR}#{request_id}"

    async def listen(self, line: Line) -> None:
        async for frame in line.heard():
            heard = read(frame)
            if isinstance(heard, Ignored):
                (log.error if heard.mistaken else log.info)("runtime.ignored", why=heard.why)
            elif not self._caller.role.covers(Role.PROMPTER):
                log.warning("runtime.refused", why="commands need the role prompter")
            else:
                await self._obey(heard)

    async def _obey(self, heard: Received) -> None:
        self._house.runtime.received(heard.echo)
        if heard.wish is None:
            lacks_run = heard.problem == MISSING_RUN
            (log.error if lacks_run else log.info)("runtime.ignored", why=heard.problem)
            return
        try:
            with because(self._cause):
                await self._wishes.fulfil(heard.wish)
        except NotDone as reason:
            log.info("runtime.ignored", why=str(reason))
        except SessionsError as error:
            log.warning("runtime.refused", why=str(error))
        except Exception:
            log.exception("runtime.failed", wish=type(heard.wish).__name__)
