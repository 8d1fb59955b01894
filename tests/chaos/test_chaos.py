"""Random commands against the real CLI while daemon and CLIs are killed: nothing is lost."""

from __future__ import annotations

import pytest

from tests.chaos.play import play

SEED = 7


@pytest.mark.timeout(240)
async def test_nothing_is_lost_whoever_is_killed_and_whenever() -> None:
    figures, found = await play(SEED, steps=45)
    assert found == [], f"make chaos ARGS='--seed {SEED} --steps 45'"
    assert figures.accepted > 10
    assert figures.daemons_killed > 0
    assert figures.clis_killed > 0
