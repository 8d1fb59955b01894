"""Positions in a text, measured as Python does and as Telegram does."""

from __future__ import annotations

import re
from bisect import bisect_left

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Ruler:
    """Telegram counts in UTF-16 units, where a character beyond U+FFFF takes two."""

    def __init__(self, text: str) -> None:
        self._end = len(text)
        self._astral = [match.start() for match in _ASTRAL.finditer(text)]
        self._astral_units = [index + before for before, index in enumerate(self._astral)]

    def unit(self, index: int) -> int:
        return index + bisect_left(self._astral, index)

    def index(self, unit: int) -> int:
        """The last index that is at or before this unit: never inside a character."""
        return max(0, min(self._end, unit - bisect_left(self._astral_units, unit)))

    def index_after(self, unit: int) -> int:
        index = self.index(unit)
        return index if self.unit(index) >= unit else index + 1
