from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox
from tests.process.machine import Machine
from tests.waiting import eventually


@pytest.fixture
async def machine(sandbox: Sandbox, workdir: Path) -> AsyncIterator[Machine]:
    """Whatever a test did on it, in the end nothing runs there and nothing lies elsewhere."""
    here = Machine(sandbox, workdir)
    yield here
    await eventually(lambda: not here.processes())
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(workdir))  # as the CLI names a directory's files
    assert not list(Path("/tmp").glob(f"claude-{os.getuid()}/{slug}*"))
