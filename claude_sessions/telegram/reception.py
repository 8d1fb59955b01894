"""Updates on their way to the door: each person's in order, presses past everything else.

Unless a press may be old: then it waits for its turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import structlog
from telegram import CallbackQuery, Message, Update

from claude_sessions.clock import Clock
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.files import says_nothing
from claude_sessions.telegram.gather import HOLD, JOIN, Part, belongs, holds
from claude_sessions.telegram.lag import Lag
from claude_sessions.telegram.people import Speaker

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatePress:
    """It may have been made long ago, and stays among what its person said there."""

    update_id: int
    query: CallbackQuery

    @property
    def speaker(self) -> Speaker:
        message, sender = self.query.message, self.query.from_user.id
        if message is None:
            return Address(sender), sender
        topic = isinstance(message, Message) and message.is_topic_message
        thread = message.message_thread_id if isinstance(message, Message) and topic else None
        return Address(message.chat.id, thread), sender


class Reception:
    """`hear` gets the parts that are one message; with True, they belong to the one just before.

    `press` is told whether it may come late.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        spawn: Spawn,
        hear: Callable[[list[Part], bool], Awaitable[None]],
        press: Callable[[int, CallbackQuery, bool], Awaitable[None]],
        pass_over: Callable[[Update], Awaitable[None]],
        lag: Lag,
    ) -> None:
        self._clock = clock
        self._spawn = spawn
        self._hear = hear
        self._press = press
        self._pass_over = pass_over
        self._lag = lag
        self._queues: dict[Speaker, asyncio.Queue[Part | LatePress]] = {}

    def take(self, update: Update) -> None:
        """Does not wait."""
        query = update.callback_query
        if query is not None and self._lag.behind:
            self.line_up(LatePress(update_id=update.update_id, query=query))
        elif query is not None:
            press = self._press(update.update_id, query, False)
            self._spawn(safely(press), f"telegram.press:{update.update_id}")
        elif update.message is not None and not says_nothing(update.message):
            self.line_up(
                Part(
                    update_id=update.update_id,
                    message=update.message,
                    at=self._clock.monotonic(),
                    late=self._lag.of(update.message.date),
                )
            )
        else:
            self._spawn(safely(self._pass_over(update)), f"telegram.other:{update.update_id}")

    def line_up(self, part: Part | LatePress) -> None:
        """In a group, one person's paste is not broken by what another says meanwhile."""
        if part.speaker not in self._queues:
            self._queues[part.speaker] = asyncio.Queue()
            self._spawn(self._attend(part.speaker), f"telegram.speaker:{part.speaker[1]}")
        self._queues[part.speaker].put_nowait(part)

    async def _attend(self, speaker: Speaker) -> None:
        """Until they have said nothing for so long that nothing more belongs together."""
        queue = self._queues[speaker]
        before: Part | None = None  # the last that went at once
        first = await self._soon(queue, JOIN)
        while first is not None:
            if isinstance(first, LatePress):
                await safely(self._press(first.update_id, first.query, True))
                before, first = None, await self._soon(queue, JOIN)
                continue
            parts, following = await self._together(queue, first)
            joins = before is not None and _joins(before, first)
            await safely(self._hear(parts, joins))
            before = None if first.forwarded else parts[-1]
            first = following or await self._soon(queue, JOIN)
        del self._queues[speaker]

    async def _together(
        self, queue: asyncio.Queue[Part | LatePress], first: Part
    ) -> tuple[list[Part], Part | LatePress | None]:
        """The parts that are one message, and the one that came after them, if it has."""
        parts = [first]
        while holds(parts):
            following = await self._soon(queue, HOLD)
            if not isinstance(following, Part) or not belongs(parts, following):
                return parts, following
            parts.append(following)
        return parts, None

    async def _soon(
        self, queue: asyncio.Queue[Part | LatePress], seconds: float
    ) -> Part | LatePress | None:
        """The next part, if it comes so soon."""
        if not queue.empty():
            return queue.get_nowait()
        waiting = asyncio.ensure_future(queue.get())
        pause = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait([waiting, pause], return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
            return None if queue.empty() else queue.get_nowait()  # it came that very moment
        finally:
            waiting.cancel()
            pause.cancel()


def _joins(before: Part, first: Part) -> bool:
    soon = first.at - before.at <= JOIN
    return first.forwarded and soon and first.speaker == before.speaker


async def safely(work: Awaitable[None]) -> None:
    """One update's failure is not another's."""
    try:
        await work
    except Exception:
        logger.exception("telegram.failed")
