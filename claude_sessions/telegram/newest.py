"""The newest end of Markdown that is too long to be rendered again and again. Pure."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_BLOCK = re.compile(r"\n\n(?=\S)")


def newest(markdown: str, length: int) -> str:
    """At most about `length` characters, from the beginning of a block where there is one.

    What begins within a block of code is code: its fence is opened again.
    """
    if len(markdown) <= length:
        return markdown
    first = len(markdown) - length
    for found in _BLOCK.finditer(markdown, first, len(markdown) - length // 2):
        if _fence_at(markdown, found.end()) is None:
            return markdown[found.end() :]
    line = markdown.find("\n", first) + 1 or first
    fence = _fence_at(markdown, line)
    return f"{fence}\n{markdown[line:]}" if fence else markdown[line:]


def _fence_at(markdown: str, place: int) -> str | None:
    """The line that opened the block of code which that place is in."""
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(markdown, 0, place):
        if opened is None:
            opened = line if line[1][0] == "~" or "`" not in line[2] else None
        elif line[1].startswith(opened[1]) and not line[2].strip():
            opened = None
    return opened[0] if opened else None
