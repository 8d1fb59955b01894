from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.router.stage import Stage, staged


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path) as opened:
        yield opened
