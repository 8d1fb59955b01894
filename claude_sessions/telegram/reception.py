"""Updates on their way to the door: each person's in order, presses past everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog
from telegram import CallbackQuery, Update

from claude_sessions.clock import Clock
from claude_sessions.telegram.files import says_nothing
from claude_sessions.telegram.gather import HOLD, JOIN, Part, belongs, holds
from claude_sessions.telegram.people import Speaker

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]

logger = structlog.get_logger(__name__)


class Reception:
    """`hear` gets the parts that are one message; with True, they belong to the one just before."""

    def __init__(
        self,
        *,
        clock: Clock,
        spawn: Spawn,
        hear: Callable[[list[Part], bool], Awaitable[None]],
        press: Callable[[int, CallbackQuery], Awaitable[None]],
        pass_over: Callable[[Update], Awaitable[None]],
    ) -> None:
        self._clock = clock
        self._spawn = spawn
        self._hear = hear
        self._press = press
        self._pass_over = pass_over
        self._queues: dict[Speaker, asyncio.Queue[Part]] = {}

    def take(self, update: Update) -> None:
        """Does not wait."""
        if update.callback_query is not None:
            press = self._press(update.update_id, update.callback_query)
            self._spawn(safely(press), f"telegram.press:{update.update_id}")
        elif update.message is not None and not says_nothing(update.message):
            at = self._clock.monotonic()
            self.line_up(Part(update_id=update.update_id, message=update.message, at=at))
        else:
            self._spawn(safely(self._pass_over(update)), f"telegram.other:{update.update_id}")

    def line_up(self, part: Part) -> None:
        """In a group, one person's paste is not broken by what another says meanwhile."""
        if part.speaker not in self._queues:
            self._queues[part.speaker] = asyncio.Queue()
            self._spawn(self._attend(part.speaker), f"telegram.speaker:{part.sender}")
        self._queues[part.speaker].put_nowait(part)

    async def _attend(self, speaker: Speaker) -> None:
        """Until they have said nothing for so long that nothing more belongs together."""
        queue = self._queues[speaker]
        before: Part | None = None  # the last that went at once
        first = await self._soon(queue, JOIN)
        while first is not None:
            parts, following = await self._together(queue, first)
            joins = before is not None and _joins(before, first)
            await safely(self._hear(parts, joins))
            before = None if first.forwarded else parts[-1]
            first = following or await self._soon(queue, JOIN)
        del self._queues[speaker]

    async def _together(
        self, queue: asyncio.Queue[Part], first: Part
    ) -> tuple[list[Part], Part | None]:
        """The parts that are one message, and the one that came after them, if it has."""
        parts = [first]
        while holds(parts):
            following = await self._soon(queue, HOLD)
            if following is None or not belongs(parts, following):
                return parts, following
            parts.append(following)
        return parts, None

    async def _soon(self, queue: asyncio.Queue[Part], seconds: float) -> Part | None:
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
