"""Text as a person may safely read it: what cannot be seen is spelled out."""

from __future__ import annotations

import unicodedata

# Characters that Unicode files under letters, marks or symbols, yet nobody sees.
_BLANK = frozenset({
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0xFFFC, 0x1D159, 0x16FE4,
    *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
})  # fmt: skip
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"})
_EMOJI_BLOCKS = range(0x1F000, 0x1FC00)  # newer than this Python's tables, and drawn all the same
_EMOJI_STYLE = "\ufe0f"


def visible(text: str) -> str:
    """Each unseen character as `⟨U+202E⟩`; a carriage return that ends a line as `␍`.

    Newline and tab stay, and so does the selector that gives a symbol its emoji look.
    """
    if text.isascii() and text.isprintable():
        return text
    shown = [
        char if _is_seen(char, before) else f"⟨U+{ord(char):04X}⟩"
        for before, char in zip(" " + text, text.replace("\r\n", "␍\n"), strict=False)
    ]
    return "".join(shown)


def has_hidden(text: str) -> bool:
    return visible(text) != text.replace("\r\n", "␍\n")


def one_line(text: str, limit: int) -> str:
    """Visible, on one line, at most `limit` characters; what follows a line break shows as `⏎`."""
    lines = [" ".join(visible(line).split()) for line in visible(text).split("\n")]
    line = " ⏎ ".join(part for part in lines if part)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _is_seen(char: str, before: str) -> bool:
    if char in " \n\t":
        return True
    if char == _EMOJI_STYLE:
        return unicodedata.category(before) == "So" and ord(before) not in _BLANK
    category = unicodedata.category(char)
    if category == "Cn":
        return ord(char) in _EMOJI_BLOCKS
    return category not in _UNSEEN and ord(char) not in _BLANK
