"""Updates on their way to the door: each chat's in order, presses past everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog
from telegram import CallbackQuery, Message, Update

from claude_sessions.clock import Clock
from claude_sessions.telegram.gather import HOLD, JOIN, Part, belongs, holds

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
        self._queues: dict[int, asyncio.Queue[Part]] = {}

    def take(self, update: Update) -> None:
        """Does not wait."""
        if update.callback_query is not None:
            press = self._press(update.update_id, update.callback_query)
            self._spawn(_safely(press), f"telegram.press:{update.update_id}")
        elif update.message is not None and not says_nothing(update.message):
            self._line_up(update.update_id, update.message)
        else:
            self._spawn(_safely(self._pass_over(update)), f"telegram.other:{update.update_id}")

    def _line_up(self, update_id: int, message: Message) -> None:
        chat = message.chat.id
        if chat not in self._queues:
            self._queues[chat] = asyncio.Queue()
            self._spawn(self._attend(self._queues[chat]), f"telegram.chat:{chat}")
        at = self._clock.monotonic()
        self._queues[chat].put_nowait(Part(update_id=update_id, message=message, at=at))

    async def _attend(self, queue: asyncio.Queue[Part]) -> None:
        following: Part | None = None
        before: Part | None = None  # the last that went at once
        while True:
            first = following or await queue.get()
            following = None
            parts = [first]
            while holds(parts):
                following = await self._soon(queue)
                if following is None or not belongs(parts, following):
                    break
                parts.append(following)
                following = None
            joins = before is not None and _joins(before, first)
            await _safely(self._hear(parts, joins))
            before = None if first.forwarded else parts[-1]

    async def _soon(self, queue: asyncio.Queue[Part]) -> Part | None:
        """The next part, if it comes within a moment."""
        waiting = asyncio.ensure_future(queue.get())
        pause = asyncio.ensure_future(self._clock.sleep(HOLD))
        try:
            await asyncio.wait([waiting, pause], return_when=asyncio.FIRST_COMPLETED)
            return waiting.result() if waiting.done() else None
        finally:
            waiting.cancel()
            pause.cancel()


def says_nothing(message: Message) -> bool:
    """Telegram's own remark: somebody came, a topic was opened, a group became another."""
    return not (message.text or message.caption or message.effective_attachment)


def _joins(before: Part, first: Part) -> bool:
    soon = first.at - before.at <= JOIN
    same = (first.sender, first.place) == (before.sender, before.place)
    return first.forwarded and soon and same


async def _safely(work: Awaitable[None]) -> None:
    """One update's failure is not another's."""
    try:
        await work
    except Exception:
        logger.exception("telegram.failed")
