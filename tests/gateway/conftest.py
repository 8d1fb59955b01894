from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox
from tests.gateway.port import Port, opened


@pytest.fixture
async def port(sandbox: Sandbox, workdir: Path) -> AsyncIterator[Port]:
    """A daemon with its gateway open, and the owner's client."""
    async with opened(sandbox, workdir) as port:
        yield port
