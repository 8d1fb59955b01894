"""A terminal's screen, as far as ours is used: what a person would see, scrolled back included."""

from __future__ import annotations

import re

from rich.cells import cell_len

_TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)|(.)", re.S)


class Display:
    def __init__(self, columns: int = 80) -> None:
        self._columns = columns
        self._rows: list[list[str]] = [[]]
        self._row = self._column = 0
        self.unknown: list[str] = []  # control sequences that nobody should send us

    def feed(self, text: str) -> None:
        for match in _TOKEN.finditer(text):
            arguments, letter, home, down, words, other = match.groups()
            if home:
                self._column = 0
            elif down:
                self._down()
            elif words:
                self._write(words)
            elif letter:
                self._control(arguments, letter)
            else:
                self.unknown.append(other)

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self._rows]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip("\n")

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append([])

    def _write(self, words: str) -> None:
        for char in words:
            if ord(char) < 0x20:
                self.unknown.append(char)
                continue
            width = cell_len(char)
            if self._column + width > self._columns:
                self._down()
                self._column = 0
            row = self._rows[self._row]
            row.extend(" " * (self._column - len(row)))
            row[self._column : self._column + width] = [char, *[""] * (width - 1)]
            self._column += width

    def _control(self, arguments: str, letter: str) -> None:
        number = int(arguments) if arguments.isdigit() else 1
        match letter:
            case "A":
                self._row = max(self._row - number, 0)
            case "D":
                self._column = max(self._column - number, 0)
            case "J":
                del self._rows[self._row][self._column :]
                del self._rows[self._row + 1 :]
            case "m" | "h" | "l":
                pass
            case _:
                self.unknown.append(f"{arguments}{letter}")
