from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from claude_sessions.eventlog import EventLog
from tests.log.words import log_in


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with log_in(tmp_path) as opened:
        yield opened
