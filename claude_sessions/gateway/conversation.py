"""JSON-RPC on a WebSocket: calls in their order, and the events one has subscribed to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import orjson
from structlog.contextvars import bound_contextvars

from claude_sessions.cause import because
from claude_sessions.errors import BadRequest, NotFound
from claude_sessions.events import Event
from claude_sessions.feed import Feed, Item
from claude_sessions.gateway import places, rpc
from claude_sessions.gateway.auth import DOOR, Visitor
from claude_sessions.gateway.calls import answered
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods import METHODS
from claude_sessions.gateway.methods import history as h
from claude_sessions.gateway.methods.base import Act
from claude_sessions.gateway.sockets import Line
from claude_sessions.model import new_id
from claude_sessions.people import Caller

MOST = 50  # subscriptions of a connection
EVENT = "claude-code.event"


class Conversation:
    """Of one connection. What it is subscribed to ends with it."""

    def __init__(self, house: House, visitor: Visitor, charge: Callable[[int], None]) -> None:
        self._house = house
        self._visitor = visitor
        self._charge = charge
        self._group = asyncio.TaskGroup()
        self._subscriptions: dict[str, asyncio.Task[None]] = {}
        self._told = asyncio.Event()  # of the frame at hand: its events follow its answer
        acts: dict[str, Act] = {h.SUBSCRIBE: self._subscribe, h.UNSUBSCRIBE: self._unsubscribe}
        own = [replace(method, act=acts[method.name]) for method in h.LIVE]
        self._methods = METHODS | {method.name: method for method in own}

    def works(self, line: Line) -> list[Coroutine[Any, Any, None]]:
        self._line = line
        return [self._listen()]

    async def _listen(self) -> None:
        async with self._group:
            async for frame in self._line.heard():
                self._told = asyncio.Event()
                await self._answer(frame)
                self._told.set()
            for task in self._subscriptions.values():
                task.cancel()

    async def _answer(self, frame: bytes) -> None:
        request_id = new_id()
        with because(f"{DOOR}#{request_id}"), bound_contextvars(request_id=request_id):
            read, caller = rpc.read(frame), self._visitor.caller()
            self._charge(len(read.calls))
            answers = await answered(self._house, read, caller, self._methods)
        if answers:
            await self._line.send(answers)

    async def _subscribe(self, house: House, params: h.SubscribeParams, caller: Caller) -> Any:
        if len(self._subscriptions) >= MOST:
            raise BadRequest(f"A connection may have {MOST} subscriptions.")
        session = await h.session_of(house, params.session, caller)
        start = _start(params, house)
        feed = house.log.follow(start.after, session, signals=params.signals)
        name = new_id()
        work = self._follow(name, feed, h.wants(params.types), self._told)
        self._subscriptions[name] = self._group.create_task(work, name="gateway.subscription")
        return {
            "subscription": name,
            "resume": start.resume.value,
            "position": start.after,
            "epoch": house.log.epoch,
        }

    async def _follow(
        self, name: str, feed: Feed, wanted: Callable[[Item], bool], told: asyncio.Event
    ) -> None:
        async with feed:
            await told.wait()
            async for item in feed:
                if wanted(item):
                    await self._line.send(rpc.notification(EVENT, self._news(name, item)))

    def _news(self, name: str, item: Item) -> bytes:
        told: dict[str, Any] = {
            "subscription": name,
            "event": orjson.Fragment(self._house.events(item)),
        }
        if isinstance(item, Event):
            told["position"] = item.seq
        return orjson.dumps(told)

    async def _unsubscribe(self, house: House, params: h.UnsubscribeParams, caller: Caller) -> Any:
        task = self._subscriptions.pop(params.subscription, None)
        if task is None:
            raise NotFound(f"There is no subscription {params.subscription[:60]!r}.")
        task.cancel()
        return {"subscription": params.subscription}


def _start(params: h.SubscribeParams, house: House) -> places.Start:
    log = house.log
    if params.after is None:
        return places.Start(after=log.head, resume=places.Resume.NEW)
    return places.begin(params.epoch, params.after, epoch=log.epoch, head=log.head)
