from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox
from tests.journeys.chat import Chat, chatting


@pytest.fixture
async def chat(sandbox: Sandbox, workdir: Path) -> AsyncIterator[Chat]:
    async with chatting(sandbox, workdir) as owner:
        yield owner
