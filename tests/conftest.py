"""What every test of the real thing needs: a script, a model behind it, a place to run."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from claude_sessions.demo import Sandbox, Script, ScriptedModel

# A shell that runs the tests in the background ignores Ctrl-C, and so would all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is slow, which is no failure.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


@pytest.fixture
def script() -> Script:
    """Extend it in the test; it answers anything else with `You said: …`."""
    return Script()


@pytest.fixture
async def model(script: Script) -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel(script) as serving:
        yield serving


@pytest.fixture
def sandbox(model: ScriptedModel, tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path, model.url)


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    return directory
