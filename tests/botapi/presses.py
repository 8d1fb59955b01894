"""A press of a button, and what the bot answers to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from .bell import Bell
from .messages import Json, Message
from .refusals import bad_request


@dataclass(slots=True, kw_only=True, eq=False)
class Press:
    id: str
    message: Message
    data: str
    at: float
    toast: str | None = None
    """None until it is answered; empty if the answer has no text."""
    alert: bool = False
    expired: bool = False
    _bell: Bell = field(default_factory=Bell)

    def answer(self, text: str, *, alert: bool) -> None:
        self.toast, self.alert = text, alert
        self._bell.ring()

    async def answered(self, timeout: float = 15.0) -> str:  # noqa: ASYNC109 - a test's deadline
        try:
            async with asyncio.timeout(timeout):
                return await self._bell.until(lambda: self.toast)
        except TimeoutError:
            raise AssertionError(f"The press of {self.data!r} was never answered") from None


class Presses:
    def __init__(self, *, clock: Callable[[], float], expire_after: float) -> None:
        self._clock = clock
        self._expire_after = expire_after
        self._presses: dict[str, Press] = {}

    def add(self, message: Message, data: str) -> Press:
        press_id = str(4_000_000_000_000 + len(self._presses))
        press = Press(id=press_id, message=message, data=data, at=self._clock())
        self._presses[press_id] = press
        return press

    def answer(self, press_id: str, text: str, *, alert: bool) -> None:
        press = self._presses.get(press_id)
        if press is None or press.expired or press.toast is not None or self._too_old(press):
            raise bad_request(
                "query is too old and response timeout expired or query ID is invalid"
            )
        press.answer(text, alert=alert)

    def expire(self) -> None:
        for press in self._presses.values():
            press.expired = True

    def _too_old(self, press: Press) -> bool:
        return self._clock() - press.at > self._expire_after


def callback_query(press: Press, person: Json) -> Json:
    return {
        "id": press.id,
        "from": person,
        "message": press.message.json(),
        "chat_instance": str(press.message.chat["id"]),
        "data": press.data,
    }
