"""Secrets are struck out of every log line, whoever writes it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from claude_sessions.logs import STRUCK, strike_out
from tests.process.machine import Machine

TELEGRAM = "123456789:AAE-abcdefghijklmnopqrstuvwxyz012345"

PROGRAM = """
import logging, structlog, warnings
from claude_sessions import logs

logs.configure(level="info", as_json=True)
try:
    raise ValueError("refused: sk-ant-0123456789")
except ValueError:
    logging.getLogger("asyncio").exception("A task failed with %s", "Bearer abc")
    warnings.warn("old")
    structlog.get_logger().exception("task.failed")
"""


@pytest.mark.parametrize(
    ("field", "kept"),
    [
        ({"api_key": "hunter2"}, {"api_key": STRUCK}),
        ({"botToken": "hunter2"}, {"botToken": STRUCK}),
        ({"tokens": 12, "input_tokens": 34}, {"tokens": 12, "input_tokens": 34}),
        ({"said": "bad key sk-ant-api03-abc_def"}, {"said": f"bad key {STRUCK}"}),
        ({"url": f"https://api/bot{TELEGRAM}/x"}, {"url": f"https://api/bot{STRUCK}/x"}),
        ({"header": "authorization: bearer abc"}, {"header": f"authorization: {STRUCK}"}),
        ({"remote": "https://me:pw@host/x"}, {"remote": f"https://{STRUCK}@host/x"}),
        (
            {"env": {"A_TOKEN": "x", "B": ["sk-0123456789"]}},
            {"env": {"A_TOKEN": STRUCK, "B": [STRUCK]}},
        ),
        ({"path": Path("/sk-0123456789/log")}, {"path": f"/{STRUCK}/log"}),
        ({"session": "task-force", "count": 3}, {"session": "task-force", "count": 3}),
    ],
)
def test_secrets_are_struck_out_and_the_rest_is_kept(
    field: dict[str, object], kept: dict[str, object]
) -> None:
    assert strike_out(None, "info", field) == kept


async def test_what_a_library_logs_is_struck_out_and_json_too(machine: Machine) -> None:
    ran = await machine.ran(sys.executable, "-c", PROGRAM)
    library, warning, ours = map(json.loads, ran.err.splitlines())
    assert library["event"] == f"A task failed with {STRUCK}"
    assert library["logger"] == "asyncio"
    assert f"ValueError: refused: {STRUCK}" in library["exception"]
    assert "UserWarning: old" in warning["event"]
    assert ours["event"] == "task.failed"
    assert "sk-ant" not in ran.err
