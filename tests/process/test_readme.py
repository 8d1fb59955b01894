"""What the README shows of the gateway is run as it stands there."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

from tests.process.machine import Machine

README = Path(__file__).parents[2] / "README.md"
STATE = "~/.local/state/claude-sessions"


def examples() -> str:
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if "curl" in block]
    return str(found)


async def test_the_examples_with_curl_work_as_they_are_written(machine: Machine) -> None:
    script = examples().replace(STATE, str(machine.home))
    assert script.count(str(machine.home)) == 2
    assert script.count("\ncurl ") == 7
    async with machine.started(machine.run()) as daemon:
        await daemon.says("daemon.ready")
        ran = await machine.ran("bash", "-euo", "pipefail", "-c", script)
        assert (ran.code, ran.err) == (0, "")
        os.kill(daemon.pid, signal.SIGTERM)
        assert await daemon.left() == 0
    launched, listed = (json.loads(told)["result"] for told in answers(ran.out)[:2])
    assert launched["name"] == "hello"
    assert [each["id"] for each in listed["sessions"]] == [launched["id"]]
    assert json.loads(answers(ran.out)[2])["data"] is not None
    assert "event: session.created" in ran.out
    assert '"role":"viewer"' in ran.out
    assert '{"status":"ready"}' in ran.out
    assert "claude_sessions_sessions{" in ran.out


def answers(out: str) -> list[str]:
    """Each JSON document that stands by itself; what follows is no JSON."""
    decoder, place, found = json.JSONDecoder(), 0, []
    while place < len(out) and out[place] == "{":
        _, end = decoder.raw_decode(out, place)
        found.append(out[place:end])
        place = end
    return found
