"""Topics are named, closed and opened again as their sessions fare.

What the log says is noted in the bindings, and Telegram is told as soon as it listens; so nothing
of it is lost, and what people do to a topic by hand is not undone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import structlog

from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.router import READER as ROUTER
from claude_sessions.telegram.bindings import Binding, Bindings
from claude_sessions.telegram.courier import Courier, NoTopics, TopicGone, Undelivered
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.topics import NAME

READER = "topics"
KEPT_EVERY = 500  # events
SOON, LATE = 1.0, 30.0

Ask = Callable[[int], Awaitable[None]]
logger = structlog.get_logger(__name__)


class Caretaker:
    def __init__(
        self,
        *,
        bindings: Bindings,
        courier: Courier,
        outbox: Outbox,
        log: EventLog,
        clock: Clock,
    ) -> None:
        self._bindings = bindings
        self._courier = courier
        self._outbox = outbox
        self._log = log
        self._clock = clock

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(), name="topics.follow")
            group.create_task(self._tend(), name="topics.tend")

    # --- what happens to sessions

    async def _follow(self) -> None:
        place = self._log.store.mail.place(READER)
        if place is None:
            await self._keep_place(place := self._log.head)
        kept = place
        async with self._log.follow(after=place) as feed:
            async for item in feed:
                if not isinstance(item, e.Event):
                    continue
                if await self._noted(item) or item.seq - kept >= KEPT_EVERY:
                    await self._keep_place(kept := item.seq)

    async def _keep_place(self, seq: int) -> None:
        try:
            await self._log.change(lambda store: store.mail.keep_place(READER, seq))
        except SessionsError as error:  # no room: then some is noted again
            logger.warning("topics.place_not_kept", why=str(error))

    async def _noted(self, event: e.Event) -> bool:
        """Not before it can be stored does the next one get its turn."""
        while True:
            try:
                return self._note(event)
            except SessionsError as error:
                logger.warning("topics.not_noted", why=str(error))
                await self._clock.sleep(LATE)

    def _note(self, event: e.Event) -> bool:
        """Whether it concerns a topic."""
        match event.payload:
            case e.SessionRenamed(name=name):
                fields: dict[str, object] = {"wanted_name": name[:NAME]}
            case e.SessionEnded():
                fields = {"wanted_closed": True, "after": event.seq}
            case e.SessionResumed():
                fields = {"wanted_closed": False}
            case e.SessionForgotten(session_id=session):
                return self._set(session, {"wanted_closed": True, "forgotten": True})
            case _:
                return False
        return self._set(event.session or "", fields)

    def _set(self, session: str, fields: dict[str, object]) -> bool:
        theirs = self._bindings.of(session)
        for binding in theirs:
            self._bindings.change(binding, **fields)
        return bool(theirs)

    # --- what Telegram has to be told

    async def _tend(self) -> None:
        pause = SOON
        while True:
            self._bindings.changed.clear()
            try:
                owing = await self._settle_all()
            except SessionsError as error:  # nothing can be stored: it is done again
                logger.warning("topics.not_kept", why=str(error))
                owing, pause = True, LATE
            await self._rest(pause if owing else None)
            pause = SOON if self._bindings.changed.is_set() else min(pause * 1.5, LATE)

    async def _settle_all(self) -> bool:
        """Whether something is owed."""
        owing = [binding for binding in self._bindings.all() if binding.owes]
        for binding in owing:
            await self._settle(binding)
        return bool(owing)

    async def _rest(self, seconds: float | None) -> None:
        waits: list[asyncio.Future[object]] = [asyncio.ensure_future(self._bindings.changed.wait())]
        if seconds is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def _settle(self, binding: Binding) -> None:
        """One thing that is owed, if it can be done now."""
        thread = binding.thread
        if thread is None or not binding.ours:
            self._bindings.remove(binding)  # forgotten, and nothing to close
            return
        due = self._due(binding, thread)
        if due is None:
            return
        ask, fields = due
        try:
            await self._outbox.errand(binding.chat, ask)
        except TopicGone:
            await self._outbox.lost_topic(binding.chat, thread)
            return
        except NoTopics as error:  # then it stays as it is
            logger.info("topics.refused", chat=binding.chat, why=str(error))
            fields = {"wanted_name": binding.name, "wanted_closed": binding.closed}
        except Undelivered as error:
            logger.debug("topics.later", chat=binding.chat, why=str(error))
            return
        self._bindings.change(binding, **fields)

    def _due(self, binding: Binding, thread: int) -> tuple[Ask, dict[str, object]] | None:
        courier = self._courier
        if binding.name != binding.wanted_name:
            name = binding.wanted_name
            return partial(_named, courier, thread, name), {"name": name}
        if binding.closed and not binding.wanted_closed:
            return partial(_turned, courier.reopen_topic, thread), {"closed": False}
        if not binding.closed and binding.wanted_closed and self._all_is_said(binding):
            return partial(_turned, courier.close_topic, thread), {"closed": True}
        if binding.closed and binding.forgotten:
            self._bindings.remove(binding)
        return None

    def _all_is_said(self, binding: Binding) -> bool:
        told = self._log.store.mail.place(ROUTER) or 0
        return told >= binding.after and not self._outbox.owes(binding.chat, binding.owner)


async def _named(courier: Courier, thread: int, name: str, chat: int) -> None:
    await courier.name_topic(chat, thread, name)


async def _turned(turn: Callable[[int, int], Awaitable[None]], thread: int, chat: int) -> None:
    await turn(chat, thread)
