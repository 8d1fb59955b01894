"""Text that a terminal may be given: nothing in it is a command to the terminal."""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size

# Escape and its kin, and what turns the reading direction of a whole line around.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def harmless(text: str) -> str:
    """Control characters are shown, not sent: escape becomes `␛`. Newline and tab stay."""
    return _HARMFUL.sub(_shown, text.replace("\r\n", "\n"))


def _shown(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def cut(text: str, width: int) -> str:
    """At most `width` columns; the end is what is kept."""
    if cell_len(text) <= width:
        return text
    tail = text[-width:]
    while cell_len(tail) > width - 1:
        tail = tail[1:]
    return "…" + tail


def head(text: str, width: int) -> str:
    """At most `width` columns; the beginning is what is kept."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"
