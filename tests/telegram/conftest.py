from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox
from tests.botapi import BotApi
from tests.telegram.phone import Phone, phone_of


@pytest.fixture
async def api() -> AsyncIterator[BotApi]:
    async with BotApi() as serving:
        yield serving


@pytest.fixture
async def phone(sandbox: Sandbox, workdir: Path, api: BotApi) -> AsyncIterator[Phone]:
    async with phone_of(sandbox, workdir, api) as opened:
        yield opened


@pytest.fixture
async def fast() -> AsyncIterator[BotApi]:
    """For a story with more messages than Telegram takes at once."""
    async with BotApi(limits=None) as serving:
        yield serving
