from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from telegram import Bot

from . import BotApi, Person


@pytest.fixture(autouse=True)
def _durations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the library warns of every `retry_after` it is given."""
    monkeypatch.setenv("PTB_TIMEDELTA", "true")


@pytest.fixture
async def api() -> AsyncIterator[BotApi]:
    async with BotApi(limits=None) as serving:
        yield serving


@pytest.fixture
async def bot(api: BotApi) -> AsyncIterator[Bot]:
    async with Bot(api.token, base_url=api.base_url, base_file_url=api.base_file_url) as ready:
        yield ready


@pytest.fixture
def ada(api: BotApi) -> Person:
    return api.person(7, "Ada")
