"""The bot as we poll with it: the library reads all updates of a poll or none, we read each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from telegram import Bot
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

SPARE_SECONDS = 20.0  # for the answer to a long poll to arrive

Raw = dict[str, Any]


class Polls(HTTPXRequest):
    """The connection for polls, which notes what time it is at Telegram."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how, httpx_kwargs={"event_hooks": {"response": [self._note]}})
        self.answered_at: datetime | None = None

    async def _note(self, response: httpx.Response) -> None:
        self.answered_at = _date(response.headers.get("date", ""))


class PollingBot(Bot):
    """One update that the library cannot read would else make us deaf to all that follow."""

    __slots__ = ("_polls",)

    def __init__(self, token: str, *, polls: Polls, **how: Any) -> None:
        super().__init__(token, get_updates_request=polls, **how)
        self._polls = polls

    @property
    def answered_at(self) -> datetime | None:
        """When the last poll was answered, by Telegram's clock."""
        return self._polls.answered_at

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


def _date(header: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


def _numbered(update: Raw) -> bool:
    return type(update.get("update_id")) is int
