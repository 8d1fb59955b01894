"""Secrets are struck out of every log line, whoever writes it."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import httpx
import pytest

from claude_sessions.logs import STRUCK, strike_out
from claude_sessions.places import ADDRESS
from claude_sessions.token_file import FILE
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


async def test_a_request_has_the_same_id_in_the_log_lines_and_in_the_events(
    machine: Machine,
) -> None:
    machine.configure('[log]\nlevel = "debug"\nformat = "json"')
    async with machine.started(machine.run()) as daemon:
        await daemon.says("daemon.ready")
        url = (machine.home / ADDRESS).read_text().strip()
        token = (machine.home / FILE).read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "X-Request-Id": "mine.7"}
        async with httpx.AsyncClient(base_url=url, headers=headers) as http:
            launch = {"jsonrpc": "2.0", "id": 1, "method": "claude-code.launch"}
            await http.post("/rpc", json={**launch, "params": {"prompt": "hello"}})
            events = {"jsonrpc": "2.0", "id": 2, "method": "claude-code.events"}
            page = (await http.post("/rpc", json=events)).json()["result"]["events"]
            await http.post("/rpc", json={**launch, "params": {}})
        refused = json.loads(await daemon.says("rpc.refused"))
        os.kill(daemon.pid, signal.SIGTERM)
        assert await daemon.left() == 0
    lines = [json.loads(line) for line in daemon.lines if line.startswith("{")]
    called = next(line for line in lines if line["event"] == "rpc.called")
    assert called["method"] == "claude-code.launch"
    assert called["request_id"] == refused["request_id"] == "mine.7"
    assert {each["causedBy"] for each in page if each["type"] == "session.created"} == {
        "gateway#mine.7"
    }
    assert token not in "".join(daemon.lines)
