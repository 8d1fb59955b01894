"""How many columns a text takes where every letter is as wide as the next."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_width(char, before) for before, char in zip(" " + text, text, strict=False))


def _width(char: str, before: str) -> int:
    if char == _EMOJI_STYLE:
        return 1 if unicodedata.east_asian_width(before) not in "WF" else 0
    if before == _JOINER or ord(char) in _SKIN_TONES:
        return 0
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
