"""Room for one more: by number, and by what whole process trees hold."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from claude_sessions.sessions.room import Room, megabytes

HOLD = "import sys; held = bytearray({mb} << 20); print(len(held), flush=True); sys.stdin.read()"
PARENT = (
    "import subprocess, sys; "
    "child = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdin=sys.stdin); "
    "child.wait()"
)


@pytest.fixture
def tree() -> Iterator[int]:
    """A process whose child holds 100 MB."""
    command = [sys.executable, "-c", PARENT, HOLD.format(mb=100)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate()


def test_what_the_children_hold_counts_too(tree: int) -> None:
    assert 100 < megabytes([tree]) < 200
    assert megabytes([2**22 + 1]) == 0  # gone meanwhile


async def test_the_next_is_expected_to_be_like_the_others(tree: int) -> None:
    assert await Room(max_sessions=5, memory_mb=1000).lacks([], [tree]) is None
    tight = Room(max_sessions=5, memory_mb=150)
    told = await tight.lacks([], [tree])
    assert told is not None
    assert "The memory budget is used up (1" in told
    assert not await tight.overfull([tree])
    assert await Room(max_sessions=5, memory_mb=50).overfull([tree])


async def test_where_nothing_runs_there_is_always_room() -> None:
    assert await Room(max_sessions=1, memory_mb=1).lacks([], []) is None
