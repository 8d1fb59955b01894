from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox
from tests.botapi import BotApi, Chat, Person
from tests.telegram.forum import Open
from tests.telegram.phone import OWNER, Phone, phone_of


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


@pytest.fixture
def forum(api: BotApi) -> Chat:
    api.limits = None  # how fast a group may be written to is tested elsewhere
    return api.group(-100700, "Sessions", forum=True, members=[api.person(OWNER, "Ada")])


@pytest.fixture
def open_forum(sandbox: Sandbox, workdir: Path, api: BotApi) -> Open:
    return partial(phone_of, sandbox, workdir, api, telegram={"topics": "per_session"})


@pytest.fixture
async def ada(open_forum: Open, forum: Chat) -> AsyncIterator[Person]:
    async with open_forum() as phone:
        yield phone.owner
