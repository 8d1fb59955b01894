"""Secrets are struck out of every log line, whoever writes it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from claude_sessions import logs
from claude_sessions.logs import STRUCK, strike_out

TELEGRAM = "123456789:AAE-abcdefghijklmnopqrstuvwxyz012345"


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


@pytest.fixture
def restored() -> Iterator[None]:
    """Logging is the process's own: whoever configures it gives it back."""
    root, level = logging.getLogger(), logging.getLogger().level
    handlers = list(root.handlers)
    yield
    logging.captureWarnings(False)
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


@pytest.mark.usefixtures("restored")
def test_what_a_library_logs_is_struck_out_and_json_too(tmp_path: Path) -> None:
    file = tmp_path / "log"
    logs.configure(level="info", as_json=True, file=file)
    try:
        raise ValueError("refused: sk-ant-0123456789")
    except ValueError:
        logging.getLogger("asyncio").exception("A task failed with %s", "Bearer abc")
        structlog.get_logger().exception("task.failed")
    library, ours = map(json.loads, file.read_text().splitlines())
    assert library["event"] == f"A task failed with {STRUCK}"
    assert library["logger"] == "asyncio"
    assert ours["event"] == "task.failed"
    assert f"ValueError: refused: {STRUCK}" in library["exception"]
    assert "sk-ant" not in file.read_text()
