"""The terminal: finished lines above, what is being written and the input line below.

Only whole lines are printed, so nobody's text ever ends up in another's line. On a terminal the
rows below are drawn anew after each print; without one there are none, and no escape codes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from rich.cells import cell_len

from claude_sessions.console.output import Output
from claude_sessions.console.text import cut, head

PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32"}
LIVE_ROWS = 3


class Screen:
    def __init__(
        self, output: Output, *, tty: bool, colour: bool = True, width: int | None = None
    ) -> None:
        self.tty = tty
        self._output = output
        self.colour = colour and tty
        self._width = width
        self._live: Sequence[str] = ()
        self._prompt: str | None = None
        self._before = self._after = ""  # what is typed, around the cursor
        self._drawn = 0  # rows below

    @classmethod
    def on(cls, fd: int, environ: Mapping[str, str] = os.environ) -> Self:
        tty = os.isatty(fd) and environ.get("TERM") != "dumb"
        return cls(Output(fd), tty=tty, colour=not environ.get("NO_COLOR"))

    @property
    def width(self) -> int:
        if self._width is not None:
            return self._width
        try:
            return max(os.get_terminal_size(self._output.fd).columns, 20)
        except OSError:
            return 80

    def styled(self, text: str, *styles: str) -> str:
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"

    # --- drawing; each is one write, and the future is done when it is out

    def print(
        self, lines: Iterable[str], *, live: Sequence[str] | None = None
    ) -> asyncio.Future[None]:
        """`live`: rows that are shown until the next print says otherwise."""
        if live is not None:
            self._live = live
        finished = "".join(f"{line}\n" for line in lines)
        return self._output.write(self._erased() + finished + self._below())

    def prompt(self, prompt: str | None) -> asyncio.Future[None]:
        """What stands before the input line; None takes the line away."""
        self._prompt = prompt
        return self.print(())

    def typed(self, before: str, after: str) -> asyncio.Future[None]:
        """What the input line holds, around the cursor."""
        self._before, self._after = before, after
        return self.print(())

    async def open(self) -> None:
        if self.tty:
            await self._output.write(PASTE_ON)

    async def close(self) -> None:
        self._live, self._prompt = (), None
        if self.tty:
            self._output.write(self._erased() + PASTE_OFF)
        await self._output.close()

    def _erased(self) -> str:
        if not self._drawn:
            return ""
        up = f"\x1b[{self._drawn - 1}A" if self._drawn > 1 else ""
        self._drawn = 0
        return f"\r{up}\x1b[J"

    def _below(self) -> str:
        if not self.tty or self._prompt is None:
            return ""
        live = [self.styled(head(row, self.width - 1), "dim") for row in self._live[:LIVE_ROWS]]
        self._drawn = len(live) + 1
        return "".join(f"{row}\n" for row in live) + self._input_row(self._prompt)

    def _input_row(self, prompt: str) -> str:
        """Always one row: of a long line, what is around the cursor."""
        room = self.width - cell_len(prompt) - 1
        before = cut(self._before.replace("\n", "⏎"), room)
        after = head(self._after.replace("\n", "⏎"), max(room - cell_len(before), 0))
        back = f"\x1b[{cell_len(after)}D" if after else ""
        return f"{self.styled(prompt, 'bold')}{before}{after}{back}"
