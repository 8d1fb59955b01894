"""What people are shown: Markdown as text with entities, in pieces that fit into a message."""

from __future__ import annotations

from claude_sessions.telegram.blocks import Blocks
from claude_sessions.telegram.cutting import head, split, tail
from claude_sessions.telegram.harmless import harmless
from claude_sessions.telegram.newest import newest
from claude_sessions.telegram.parser import parsed
from claude_sessions.telegram.rich import Entity, Rich, joined, plain, styled, units

__all__ = [
    "Entity", "Rich", "from_markdown", "head", "joined", "newest",
    "plain", "split", "styled", "tail", "units",
]  # fmt: skip

MAX_MARKDOWN = 300_000  # longer is no answer any more, and shown as it is


def from_markdown(markdown: str) -> Rich:
    """Takes unfinished text too, as it streams in: a fence that is not closed yet is code."""
    if len(markdown) > MAX_MARKDOWN:
        return plain(markdown)
    source = harmless(markdown)
    return Blocks(source).rendered(parsed(source))
