"""Markdown that is still being written, as lines that are printed once and stay.

A terminal is append-only, so a line is given out only when no further text can change it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])\s")
_HEADING = re.compile(r"#{1,6}\s")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
PIECE = 4000  # characters
_WIDE = re.compile(r"(?m)^\s*[|>]")  # tables and quotations are laid out as a whole


class Flow:
    """`grow` takes the whole text so far and gives the lines that are new.

    Long blocks are given out in pieces, so that no call takes long.
    """

    def __init__(self, render: Callable[[str], list[str]]) -> None:
        self._render = render
        self._done = ""  # Markdown that has been given out in full
        self._given: list[str] = []  # lines of the block that is being written
        self._goes_on = False  # the block at hand began before this piece of it
        self._opener = ""  # the first line of the fence that goes on
        self._text = ""

    @property
    def tail(self) -> str:
        """What is written and not yet given out, roughly: the end of it is exact."""
        return self._text[len(self._done) :]

    def grow(self, text: str, *, final: bool = False, by_line: bool = True) -> list[str]:
        """`by_line`: also the finished lines of a block that is not over."""
        if not text.startswith(self._done):  # it is another text: better twice than not at all
            self._done, self._given, self._goes_on, self._opener = "", [], False, ""
        self._text = text
        lines: list[str] = []
        while True:
            rest = self._opener + self.tail
            end = first_block(rest, final=final)
            piece = first_piece(rest[: end or None])
            if not (piece or end):
                break
            lines += self._finish(rest[: piece or end], goes_on=piece > 0)
        if by_line and rest and not _WIDE.search(rest):
            lines += self._advance(settled(rest))
        return lines

    def _finish(self, block: str, *, goes_on: bool) -> list[str]:
        lines = self._lines(block)
        new = lines[self._in_common(lines) :]
        self._done += block[len(self._opener) :]
        self._given = []
        self._goes_on = goes_on
        self._opener = block[: block.find("\n") + 1] if goes_on and _FENCE.match(block) else ""
        return new

    def _advance(self, block: str) -> list[str]:
        lines = self._lines(block)[:-1]
        if lines == [""] or self._in_common(lines) < len(self._given):
            return []  # nothing yet, or it looks different by now: wait until it is over
        new = lines[len(self._given) :]
        self._given = lines
        return new

    def _lines(self, block: str) -> list[str]:
        if not block.strip():
            return []
        margin = min(len(li) - len(li.lstrip()) for li in block.splitlines() if li.strip())
        dedented = "\n".join(line[margin:] for line in block.splitlines())
        lines = [" " * margin + line if line else line for line in self._render(dedented)]
        return ["", *lines] if self._apart(block) else lines

    def _apart(self, block: str) -> bool:
        """Blocks stand apart by an empty line; items of a list only where its writer did so."""
        if self._goes_on or not self._done.strip():
            return False
        return not _ITEM.match(block) or bool(re.search(r"\n\s*\n\Z", self._done))

    def _in_common(self, lines: list[str]) -> int:
        """How many lines are as they were given out; colours may have changed since."""
        count = 0
        for old, new in zip(self._given, lines, strict=False):
            if _ESCAPE.sub("", old) != _ESCAPE.sub("", new):
                break
            count += 1
        return count


def first_block(text: str, *, final: bool) -> int:
    """Where the first block of the text is over; 0: it is still being written.

    A block is over after an empty line, a heading at its end, an item of a list before the next
    item. A fence is one block, whatever is in it. With `final` the rest is over as well.
    """
    at = 0
    fence = ""
    begun = False
    for line in text.splitlines(keepends=True):
        whole = line.endswith("\n")
        mark = _FENCE.match(line)
        if fence:
            at += len(line)
            if whole and mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                return at
            continue
        if begun and (mark or _ITEM.match(line) or _HEADING.match(line)):
            return at
        at += len(line)
        begun = begun or bool(line.strip())
        if mark:
            fence = mark[1]
        elif whole and begun and (not line.strip() or _HEADING.match(line)):
            return at
    return at if final else 0


def first_piece(text: str) -> int:
    """Where a block that is too long to be laid out at once may be cut; 0: it is not too long."""
    if len(text) <= PIECE or _WIDE.search(text):
        return 0
    if _FENCE.match(text):
        opener = text.find("\n") + 1
        end = text.rfind("\n", 0, PIECE) + 1
        return end if end > opener else 0
    return len(settled(text[:PIECE])) or PIECE


def settled(text: str) -> str:
    """The part whose look the next words cannot change: whole words, no mark left open."""
    if _FENCE.match(text):
        return text[: text.rfind("\n") + 1]
    end = max(text.rfind(" "), text.rfind("\n"))
    for mark in ("`", "**", "~~"):
        if text.count(mark) % 2:
            end = min(end, text.rfind(mark))
    openers = list(re.finditer(r"(?<![\w*])[*_](?=[^\s*_])", text))
    closers = list(re.finditer(r"(?<=[^\s*_])[*_](?![\w*])", text))
    if len(openers) > len(closers):
        end = min(end, openers[-1].start())
    if re.search(r"\[[^\]]*\Z|\]\([^)]*\Z", text):
        end = min(end, text.rfind("["))
    return text[: max(end, 0)]
