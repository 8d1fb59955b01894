"""A long text, and where it may be cut."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import accumulate

from claude_sessions.telegram.graphemes import cut_before
from claude_sessions.telegram.rich import Rich, Span, rich, spans_of, within_limit
from claude_sessions.telegram.ruler import Ruler

_SPACE = re.compile(r"\s*")
_EMPTY_LINES = re.compile(r"(?:[^\S\n]*\n)*")


class Scroll:
    def __init__(self, rich: Rich) -> None:
        self.text = rich.text
        self.ruler = Ruler(rich.text)
        self._spans = sorted(spans_of(rich, self.ruler), key=lambda span: span.start)
        self._reach = list(accumulate((span.end for span in self._spans), max))
        self._code = [span for span in self._spans if span.type == "pre"]
        boxes = [span for span in self._spans if span.type in ("pre", "blockquote")]
        self._edges = sorted(edge for box in boxes for edge in (box.start, box.end))

    def piece(self, start: int, end: int, lead: str = "") -> Rich:
        shift = len(lead) - start
        spans = [
            replace(span, start=max(span.start, start) + shift, end=min(span.end, end) + shift)
            for span in self._touching(start, end)
        ]
        return within_limit(rich(lead + self.text[start:end], spans))

    def is_in_code(self, at: int) -> bool:
        return self._code_at(at) is not None

    def next_text(self, at: int) -> int:
        """The first place from here that is worth beginning at: code keeps its indentation."""
        if code := self._code_at(at):
            at = _end(_EMPTY_LINES, self.text, at)
            return at if at < code.end else self.next_text(at)
        end = _end(_SPACE, self.text, at)
        code = self._code_at(end)
        return code.start if code else end

    def cut(self, start: int, end: int) -> int:
        """The best place to end what began at `start` and may not go beyond `end`."""
        third = start + (end - start) // 3
        for found in (
            self.paragraph_before(end, third),
            self._edge(third, end),
            self.text.rfind("\n\n", third + 1, end + 2),
            self.text.rfind("\n", third + 1, end + 1),
        ):
            if found > start:
                return found
        return self.word(start, end)

    def word(self, start: int, end: int) -> int:
        half = start + (end - start) // 2
        found = max(self.text.rfind(space, half + 1, end + 1) for space in " \n")
        return found if found > start else cut_before(self.text, end, start)

    def paragraph_before(self, end: int, floor: int = 0) -> int:
        """Where the last paragraph ends that ends by then, above the floor; else -1."""
        found = self.text.rfind("\n\n", floor + 1, end + 2)
        while found >= 0 and (code := self._code_at(found)):
            found = self.text.rfind("\n\n", floor + 1, code.start)
        return found

    def paragraph_after(self, start: int) -> int:
        found = self.text.find("\n\n", start)
        while found >= 0 and (code := self._code_at(found)):
            found = self.text.find("\n\n", code.end)
        return found

    def _edge(self, floor: int, end: int) -> int:
        place = bisect_right(self._edges, end) - 1
        return self._edges[place] if place >= 0 and self._edges[place] > floor else -1

    def _code_at(self, at: int) -> Span | None:
        place = bisect_right(self._code, at, key=lambda span: span.start) - 1
        return self._code[place] if place >= 0 and at < self._code[place].end else None

    def _touching(self, start: int, end: int) -> list[Span]:
        first = bisect_right(self._reach, start)
        last = bisect_left(self._spans, end, key=lambda span: span.start)
        return [span for span in self._spans[first:last] if span.end > start]


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
