"""What a crash has left running is ended at the next start, and nothing else is."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from claude_sessions.engines.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "processes")


@pytest.fixture
def left() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["bash", "-c", "while true; do read -t 1; done"]) as process:
        yield process
        process.kill()


def test_a_process_that_is_still_there_is_ended(
    ledger: Ledger, left: subprocess.Popen[bytes]
) -> None:
    ledger.add(left.pid)
    assert ledger.sweep() == [left.pid]
    left.wait(5)
    assert ledger.sweep() == []


def test_a_tool_whose_claude_is_gone_is_ended_by_what_its_environment_says(
    ledger: Ledger, tmp_path: Path
) -> None:
    claude = subprocess.Popen(["sleep", "60"])
    ledger.add(claude.pid)
    env = {"CLAUDE_PID": str(claude.pid), "PATH": "/usr/bin:/bin"}
    tool = subprocess.Popen(["sleep", "61"], env=env, start_new_session=True)
    claude.kill()
    claude.wait()
    assert ledger.sweep() == [claude.pid]
    tool.wait(5)


def test_a_pid_that_has_gone_to_somebody_else_is_left_alone(
    ledger: Ledger, left: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    ledger.add(left.pid)
    (file,) = (tmp_path / "processes").iterdir()
    file.write_text(repr(psutil.Process(left.pid).create_time() - 100))
    assert ledger.sweep() == []
    assert left.poll() is None


def test_one_that_ended_as_it_should_is_not_looked_for(
    ledger: Ledger, left: subprocess.Popen[bytes]
) -> None:
    ledger.add(left.pid)
    ledger.remove(left.pid)
    assert ledger.sweep() == []
    assert left.poll() is None


def test_a_file_that_makes_no_sense_is_passed_over(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "processes").mkdir()
    (tmp_path / "processes" / "junk").write_text("?")
    assert ledger.sweep() == []
