"""The bot as we poll with it: the library reads all updates of a poll or none, we read each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from telegram import Bot
from telegram.error import TelegramError

SPARE_SECONDS = 20.0  # for the answer to a long poll to arrive

Raw = dict[str, Any]


class PollingBot(Bot):
    """One update that the library cannot read would else make us deaf to all that follow."""

    __slots__ = ()

    async def poll(self, offset: int | None, *, seconds: int, wanted: Sequence[str]) -> list[Raw]:
        """As Telegram tells them; whatever has no number is none."""
        told: object = await self._post(
            "getUpdates",
            {"timeout": seconds, "offset": offset, "allowed_updates": list(wanted)},
            read_timeout=seconds + SPARE_SECONDS,
        )
        if not isinstance(told, list):
            raise TelegramError("The answer to a poll is no list of updates.")
        return [each for each in told if isinstance(each, dict) and _numbered(each)]


def _numbered(update: Raw) -> bool:
    return type(update.get("update_id")) is int
