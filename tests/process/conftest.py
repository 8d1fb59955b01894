from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox, ScriptedModel
from tests.process.machine import Machine


@pytest.fixture
def sandbox(model: ScriptedModel) -> Iterator[Sandbox]:
    """In a short place: where a path has more than 103 bytes, the CLI's sockets go to /tmp."""
    with tempfile.TemporaryDirectory(prefix="cs-") as root:
        yield Sandbox(Path(root), model.url)


@pytest.fixture
def workdir(sandbox: Sandbox) -> Path:
    directory = sandbox.root / "work"
    directory.mkdir()
    return directory


@pytest.fixture
async def machine(sandbox: Sandbox, workdir: Path) -> AsyncIterator[Machine]:
    """Whatever a test did on it, in the end nothing runs there and nothing lies elsewhere."""
    here = Machine(sandbox, workdir)
    yield here
    sys.stdout.write(here.log)  # shown when the test has failed
    left = here.processes()
    here.sweep()
    assert left == []
    assert elsewhere(workdir) == []


def elsewhere(workdir: Path) -> list[Path]:
    """What Claude wrote about a directory where it writes by default."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(workdir))  # as the CLI names it
    return list(Path("/tmp").glob(f"claude-{os.getuid()}/{slug}*"))
