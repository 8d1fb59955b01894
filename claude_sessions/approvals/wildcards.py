"""`*` in a pattern for commands: anything. `\\*` is a star, `\\\\` a backslash."""

from __future__ import annotations

import re
from collections.abc import Iterator


def readings(pattern: str) -> Iterator[list[str]]:
    """The literal pieces between the stars; `npm run *` also means `npm run` alone."""
    if pattern.endswith(":*"):
        pattern = pattern[:-2] + " *"
    if pattern.endswith(" *"):
        yield pieces_of(pattern[:-2])
    yield pieces_of(pattern)


def pieces_of(pattern: str) -> list[str]:
    pieces = [""]
    for token in re.findall(r"\\[\\*]|.", pattern, re.S):
        if token == "*":
            pieces.append("")
        else:
            pieces[-1] += token[-1]
    return pieces


def literal(text: str) -> str:
    """The pattern that means this text and no other."""
    return re.sub(r"([\\*])", r"\\\1", text)


def fits(pieces: list[str], text: str) -> bool:
    """Whether the pieces stand in the text in this order, the outer two at its ends."""
    first, *middle = pieces
    if not middle:
        return text == first
    last = middle.pop()
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first + last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def specificity(pattern: str | None) -> tuple[int, int]:
    """Higher is narrower: no pattern, one with wildcards, an exact one; then by length."""
    if pattern is None:
        return (0, 0)
    literals = re.sub(r"(?<!\\)[*?]", "", pattern)
    return (2 if literals == pattern else 1, len(literals))
