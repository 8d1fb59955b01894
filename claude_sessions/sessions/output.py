"""The last words of a session, with absolute positions."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUp:
    """What somebody has not seen. `before` blocks of it are only in the log."""

    blocks: tuple[str, ...]
    before: int


class OutputBuffer:
    """Block n (from 1) keeps its number for ever, also after the buffer has turned over."""

    def __init__(self, size: int) -> None:
        self._blocks: deque[str] = deque(maxlen=size)
        self._end = 0

    @property
    def end(self) -> int:
        """How many blocks there have been."""
        return self._end

    def fill(self, blocks: list[str], end: int) -> None:
        """From the log: the last blocks of a session that has had `end` of them."""
        self._blocks.extend(blocks)
        self._end = end

    def add(self, text: str) -> None:
        self._blocks.append(text)
        self._end += 1

    def last(self, count: int) -> tuple[str, ...]:
        return tuple(self._blocks)[-count:] if count > 0 else ()

    def since(self, position: int) -> CatchUp:
        missed = max(self._end - position, 0)
        kept = self.last(min(missed, len(self._blocks)))
        return CatchUp(blocks=kept, before=missed - len(kept))
