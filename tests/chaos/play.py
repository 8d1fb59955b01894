"""A round in a place of its own, of which nothing is left."""

from __future__ import annotations

import tempfile
from pathlib import Path

from claude_sessions.demo import Sandbox, ScriptedModel
from tests.chaos.checks import violations
from tests.chaos.excerpt import excerpt
from tests.chaos.figures import Figures
from tests.chaos.round import Round
from tests.chaos.story import story


async def play(seed: int, steps: int) -> tuple[Figures, list[str]]:
    """Its figures, and what it found, with the part of the log that tells how."""
    # A short path: where one has more than 103 bytes, the CLI's sockets would go elsewhere.
    with tempfile.TemporaryDirectory(prefix="cs-") as root:
        async with ScriptedModel(story()) as model:
            played = Round(seed, model, Sandbox(Path(root), model.url))
            evidence = await played.run(steps)
    found = violations(evidence)
    played.figures.violations = len(found)
    return played.figures, [*found, *excerpt(evidence, found)] if found else []
