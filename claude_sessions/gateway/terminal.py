"""The terminal chat for a client of this daemon: a WebSocket that is a door and a channel at once.

A chat that goes away puts what it had in front into the background and ends nothing. When the
daemon itself goes, its sessions stay in front for the client that comes back.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from itertools import chain, count
from typing import Any

import structlog
from starlette.routing import BaseRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from claude_sessions import __version__, frames
from claude_sessions import commands as c
from claude_sessions.cause import because
from claude_sessions.channel import ChannelClosed, MessageRef, Notification
from claude_sessions.commands.hearing import hear, missed
from claude_sessions.errors import BadRequest, SessionsError
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.entrance import Entrance
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import INTERNAL, INVALID, Refused, code_of
from claude_sessions.gateway.sockets import Line, talked
from claude_sessions.gateway.visits import Over, Visit

DOOR = "terminal"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")

log = structlog.get_logger(__name__)


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    taken: set[str] = set()

    async def talk(visitor: Visitor, socket: WebSocket) -> None:
        name = _free(socket.query_params.get("name") or DOOR, taken)
        taken.add(name)
        try:
            with house.visits.begun(visitor) as visit:
                watching = socket.query_params.get("watch") == "1"
                await Terminal(house, visit, name, watching=watching).serve(socket)
        finally:
            taken.discard(name)

    return [entrance.socket("/terminal", talk)]


def _free(name: str, taken: set[str]) -> str:
    if not NAME.fullmatch(name):
        raise Refused(INVALID, "A terminal's name has letters, digits, dots and dashes, 40 of them")
    others = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], others) if free not in taken)


class RemoteChannel:
    """What is told to it goes out as a frame; how it looks is the client's affair."""

    def __init__(self, channel_id: str, line: Line) -> None:
        self.id = channel_id
        self._line = line
        self._ids = count(1)

    async def send(self, notification: Notification) -> MessageRef:
        ref = MessageRef(channel=self.id, id=str(next(self._ids)))
        await self._tell(frames.Sent(ref=ref.id, notification=notification))
        return ref

    async def edit(self, ref: MessageRef, notification: Notification) -> None:
        await self._tell(frames.Edited(ref=ref.id, notification=notification))

    async def close(self) -> None:
        pass

    async def _tell(self, frame: frames.Frame) -> None:
        try:
            await self._line.send(frames.frame_json(frame))
        except (WebSocketDisconnect, RuntimeError) as error:  # RuntimeError: closed from our side
            raise ChannelClosed(self.id) from error


class Terminal:
    """One connection. `watching`: no person acts here, so nobody is told what they have missed."""

    def __init__(self, house: House, visit: Visit, name: str, *, watching: bool) -> None:
        self._house = house
        self._visit = visit
        self._watching = watching
        self._id = f"{DOOR}|{name}"
        # The door has this terminal's own name: what is done here is told to one beside it.
        door = DOOR if name == DOOR else f"{DOOR} {name}"
        self._caller = visit.visitor.caller(self._id, door=door)
        self._lines = count(1)

    async def serve(self, socket: WebSocket) -> None:
        try:
            await talked(socket, self._visit, self._works)
        finally:
            await self._house.router.detach(self._id)
            if self._watching or not self._comes_back():
                await self._step_back()

    def _works(self, line: Line) -> list[Coroutine[Any, Any, None]]:
        caller = None if self._watching else str(self._caller)
        hello = frames.Hello(channel=self._id, caller=str(self._caller), version=__version__)
        delivery = self._house.router.attach(RemoteChannel(self._id, line), caller=caller)
        return [self._hear(line, hello), self._cut_after(delivery)]

    async def _hear(self, line: Line, hello: frames.Hello) -> None:
        await line.send(frames.frame_json(hello))
        async for text in line.heard():
            said = frames.read_said(text)
            if said is None:
                error = BadRequest('That is no line: send {"line": "…"}')
                await line.send(frames.frame_json(_refusal(0, error)))
            else:
                await self._carry_out(line, said)

    async def _carry_out(self, line: Line, said: frames.Said) -> None:
        """One after the other: a line that is hasty waits in the socket."""
        if (news := await self._missed(said.line)) is not None:
            await line.send(frames.frame_json(frames.Missed(reply=news)))
        await line.send(frames.frame_json(await self._answer(said)))

    async def _missed(self, text: str) -> c.Reply | None:
        if self._watching:
            return None
        try:
            return await missed(self._house.pool, text, self._caller)
        except SessionsError as error:
            log.warning("terminal.digest_failed", why=str(error))
            return None

    async def _answer(self, said: frames.Said) -> frames.Answer:
        try:
            with because(f"{self._id}#{next(self._lines)}"):
                reply = await hear(self._house.pool, said.line, self._caller)
        except SessionsError as error:
            return _refusal(said.id, error)
        except Exception:
            log.exception("terminal.failed")
            wrong = c.Reply(text="That went wrong on our side. The log says more.")
            return frames.Answer(id=said.id, reply=wrong, error=INTERNAL.name)
        return frames.Answer(id=said.id, reply=reply)

    async def _cut_after(self, delivery: asyncio.Task[None]) -> None:
        await asyncio.wait([delivery])
        self._visit.end(Over.SLOW)

    def _comes_back(self) -> bool:
        return self._visit.over.done() and self._visit.over.result() is Over.STOPPING

    async def _step_back(self) -> None:
        if not self._house.log.store.fronts(self._id):
            return
        try:
            await self._house.perform(c.Background(), self._caller)
        except SessionsError as error:
            log.warning("terminal.left_in_front", why=str(error))


def _refusal(id_: int, error: SessionsError) -> frames.Answer:
    reply = c.Reply(text=str(error), actions=error.actions)
    return frames.Answer(id=id_, reply=reply, error=code_of(error).name)
