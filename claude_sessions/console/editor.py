"""The input line: keys become a line of text. Pure; the screen draws it."""

from __future__ import annotations

import re
from dataclasses import dataclass

PASTE_BEGINS, PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_OPENING = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*|O)?")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[@-~]|[^\[O\x00-\x1f\x7f])")
HISTORY = 200


@dataclass(frozen=True, slots=True)
class Line:
    text: str


class Interrupt:
    """Ctrl-C on an empty line."""


class Leave:
    """Ctrl-D on an empty line."""


Key = Line | Interrupt | Leave


class LineEditor:
    def __init__(self) -> None:
        self.before = ""
        self.after = ""
        self._pending = ""  # of a key that came in two pieces
        self._pasting = False
        self._history: list[str] = []
        self._place = 0  # in the history; its end is the line being typed

    @property
    def empty(self) -> bool:
        return not self.before and not self.after

    def feed(self, typed: str) -> list[Key]:
        keys = self._pending + typed
        self._pending = ""
        found: list[Key] = []
        at = 0
        while at < len(keys):
            if self._pasting:
                at = self._paste(keys, at)
            elif keys[at] == "\x1b":
                at = self._escape(keys, at)
            else:
                found += self._press(keys[at])
                at += 1
        return found

    def _paste(self, keys: str, at: int) -> int:
        """What is pasted is text, line breaks included, until its end mark."""
        end = keys.find(PASTE_ENDS, at)
        if end >= 0:
            self._insert(keys[at:end])
            self._pasting = False
            return end + len(PASTE_ENDS)
        kept = next(
            (n for n in range(len(PASTE_ENDS) - 1, 0, -1) if keys.endswith(PASTE_ENDS[:n], at)), 0
        )
        self._insert(keys[at : len(keys) - kept])
        self._pending = keys[len(keys) - kept :]
        return len(keys)

    def _escape(self, keys: str, at: int) -> int:
        match = _SEQUENCE.match(keys, at)
        if match is None:
            opening = _OPENING.match(keys, at)
            assert opening is not None
            if opening.end() == len(keys):
                self._pending = keys[at:]
            return opening.end()  # not a key that we know
        if match.group() == PASTE_BEGINS:
            self._pasting = True
        else:
            self._move(match.group())
        return match.end()

    def _insert(self, text: str) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.before += "".join(c for c in text if c.isprintable() or c in "\n\t")

    def _press(self, key: str) -> list[Key]:
        match key:
            case "\n" | "\r":
                return [Line(self._take())]
            case "\x03":
                return self._cancel()
            case "\x04":
                if self.empty:
                    return [Leave()]
                self.after = self.after[1:]
            case "\x7f" | "\x08":
                self.before = self.before[:-1]
            case "\x01":
                self.before, self.after = "", self.before + self.after
            case "\x05":
                self.before, self.after = self.before + self.after, ""
            case "\x0b":
                self.after = ""
            case "\x15":
                self.before = ""
            case "\x17":
                self.before = re.sub(r"\S*\s*\Z", "", self.before)
            case _:
                self._insert(key)
        return []

    def _cancel(self) -> list[Key]:
        if self.empty:
            return [Interrupt()]
        self.before = self.after = ""
        return []

    def _move(self, sequence: str) -> None:
        match sequence:
            case "\x1b[D" | "\x1bOD" if self.before:
                self.before, self.after = self.before[:-1], self.before[-1] + self.after
            case "\x1b[C" | "\x1bOC" if self.after:
                self.before, self.after = self.before + self.after[0], self.after[1:]
            case "\x1b[A" | "\x1bOA":
                self._recall(-1)
            case "\x1b[B" | "\x1bOB":
                self._recall(+1)
            case "\x1b[H" | "\x1bOH" | "\x1b[1~":
                self._press("\x01")
            case "\x1b[F" | "\x1bOF" | "\x1b[4~":
                self._press("\x05")
            case "\x1b[3~":
                self.after = self.after[1:]

    def _recall(self, step: int) -> None:
        place = self._place + step
        if 0 <= place <= len(self._history):
            self._place = place
            self.before, self.after = (*self._history, "")[place], ""

    def _take(self) -> str:
        text = self.before + self.after
        self.before = self.after = ""
        if text.strip() and self._history[-1:] != [text]:
            self._history = [*self._history, text][-HISTORY:]
        self._place = len(self._history)
        return text
