"""Where a text may be cut without taking a character apart that people see as one."""

from __future__ import annotations

import unicodedata

_JOINER = 0x200D
_REGIONAL = range(0x1F1E6, 0x1F200)
_CLINGING = (range(0x1F3FB, 0x1F400), range(0x1160, 0x1200), range(0xE0020, 0xE0080))
_MAX_HEAP = 64  # of marks on one letter; a higher one is cut anyway


def cut_before(text: str, index: int, floor: int) -> int:
    """The last place for a cut at or before this index, above the floor; else the index."""
    for at in range(index, max(floor, index - _MAX_HEAP), -1):
        if _may_cut(text, at, floor):
            return at
    return index


def cut_after(text: str, index: int, floor: int) -> int:
    for at in range(index, min(len(text), index + _MAX_HEAP)):
        if _may_cut(text, at, floor):
            return at
    return index


def _may_cut(text: str, at: int, floor: int) -> bool:
    if not 0 < at < len(text):
        return True
    before, after = ord(text[at - 1]), ord(text[at])
    if _JOINER in (before, after) or any(after in group for group in _CLINGING):
        return False
    if before in _REGIONAL and after in _REGIONAL:
        return _letters_before(text, at, floor) % 2 == 0
    return unicodedata.category(text[at]) not in ("Mn", "Mc", "Me")


def _letters_before(text: str, at: int, floor: int) -> int:
    """Of flags, which are two letters each."""
    start = at
    while start > floor and ord(text[start - 1]) in _REGIONAL:
        start -= 1
    return at - start
