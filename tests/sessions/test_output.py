"""Positions are for ever; the buffer is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.sessions.output import OutputBuffer


@given(size=st.integers(1, 5), count=st.integers(0, 20), position=st.integers(0, 20))
def test_what_was_missed_is_exact_and_what_is_no_longer_here_is_counted(
    size: int, count: int, position: int
) -> None:
    buffer = OutputBuffer(size)
    for n in range(count):
        buffer.add(str(n))
    caught = buffer.since(position)
    missed = [str(n) for n in range(min(position, count), count)]
    assert buffer.end == count
    assert caught.before + len(caught.blocks) == len(missed)
    assert list(caught.blocks) == missed[caught.before :]
