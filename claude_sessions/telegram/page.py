"""A page that is written from top to bottom: lines with their indentation, and what is styled."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from claude_sessions.telegram.harmless import harmless
from claude_sessions.telegram.rich import TAB, Rich, Span, rich


@dataclass(slots=True)
class _Open:
    type: str
    is_nested: bool  # in one of its own type, which says it all
    start: int | None = None  # none until something is written in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    index: int
    pieces: int


class Page:
    def __init__(self) -> None:
        self.indent = ""
        self.marker = ""  # stands in place of the indentation, once
        self._pieces: list[str] = []
        self._length = 0
        self._breaks = 0
        self._spans: list[Span] = []
        self._open: list[_Open] = []

    def break_line(self, count: int = 1) -> None:
        """The next text stands on a line of its own; with a count of 2, behind an empty one."""
        self._breaks = max(self._breaks, count)

    def here(self) -> Place:
        """Where the next text will stand: on the right line, behind its indentation."""
        self._reach()
        return Place(index=self._length, pieces=len(self._pieces))

    def since(self, place: Place) -> str:
        return "".join(self._pieces[place.pieces :])

    def write(self, text: str) -> None:
        if text:
            self._reach()
            self._start_open()
            self._append(harmless(text).replace("\t", " "))

    def code(self, text: str) -> None:
        self._reach()
        self._solid("code", text.replace("\t", " "))

    def block(self, text: str, language: str | None = None) -> None:
        """Code on lines of its own, without the indentation around it: it will be copied."""
        code = text.expandtabs(TAB)
        if self.marker:
            self._reach()
        self.break_line()
        self._end_line()
        self._solid("pre", code if self._pieces else textwrap.dedent(code), language)
        self.break_line()

    def open(self, type: str) -> None:
        is_nested = any(other.type == type for other in self._open)
        self._open.append(_Open(type, is_nested))

    def close(self) -> None:
        self._keep(self._open.pop())

    def link(self, place: Place, url: str) -> None:
        """Makes a link of what has been written since."""
        self._spans.append(Span(type="text_link", start=place.index, end=self._length, url=url))

    def finished(self) -> Rich:
        return rich("".join(self._pieces), self._spans)

    def _reach(self) -> None:
        is_fresh = not self._pieces or self._breaks > 0 or self.marker
        self._end_line()
        if is_fresh:
            self._start_open("blockquote")
            self._append(self.marker or self.indent)
            self.marker = ""

    def _end_line(self) -> None:
        if self._pieces:
            self._append("\n" * self._breaks)
        self._breaks = 0

    def _solid(self, type: str, text: str, language: str | None = None) -> None:
        """Telegram lets nothing stand around code: what is open ends before it, and resumes."""
        for opened in self._open:
            self._keep(opened)
            opened.start = None
        start = self._length
        self._append(harmless(text))
        self._spans.append(Span(type=type, start=start, end=self._length, language=language))

    def _start_open(self, type: str | None = None) -> None:
        for opened in self._open:
            if opened.start is None and type in (None, opened.type):
                opened.start = self._length

    def _keep(self, opened: _Open) -> None:
        if opened.start is not None and not opened.is_nested:
            self._spans.append(Span(type=opened.type, start=opened.start, end=self._length))

    def _append(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._length += len(text)
