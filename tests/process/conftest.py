from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox
from tests.process.machine import Machine


@pytest.fixture
def machine(sandbox: Sandbox, workdir: Path) -> Machine:
    return Machine(sandbox, workdir)
