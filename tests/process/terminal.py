"""A real terminal with somebody at it."""

from __future__ import annotations

import asyncio
import codecs
import os
import termios
from asyncio.subprocess import Process
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Self

from tests.console.display import Display
from tests.waiting import eventually

PATIENCE = 30.0
COLUMNS = 200
CTRL_C, CTRL_D = "\x03", "\x04"


class Terminal:
    """Reads for as long as it is open, as a person's terminal does."""

    process: Process

    def __init__(self, master: int, slave: int) -> None:
        self.master = master
        self.slave = slave
        self._modes = termios.tcgetattr(slave)
        self.restored = False
        self._display = Display(COLUMNS)
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        master, slave = os.openpty()
        os.set_blocking(master, False)
        termios.tcsetwinsize(slave, (50, COLUMNS))
        terminal = cls(master, slave)
        asyncio.get_running_loop().add_reader(master, terminal._read)
        try:
            yield terminal
        finally:
            terminal.close()
            os.close(slave)

    def close(self) -> None:
        """Somebody closes the window."""
        if self.master >= 0:
            asyncio.get_running_loop().remove_reader(self.master)
            os.close(self.master)
            self.master = -1

    @property
    def text(self) -> str:
        """All that was shown, scrolled back included."""
        return self._display.text

    @property
    def unknown(self) -> list[str]:
        """Control sequences that a plain terminal would not understand."""
        return self._display.unknown

    def type(self, line: str) -> None:
        self.press(line + "\r")

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    async def shows(self, text: str, *, times: int = 1) -> None:
        await self.until(lambda shown: shown.count(text) >= times)

    async def prompts(self) -> None:
        """Only then the keys are the program's and no longer the kernel's."""
        await self.until(lambda shown: shown.endswith("\n>"))

    async def until(self, holds: Callable[[str], object]) -> None:
        """Fails at once when the program has ended, and says what it had shown."""
        with suppress(TimeoutError):
            await eventually(
                lambda: holds(self.text) or self.process.returncode is not None, PATIENCE
            )
        self._read()
        if not holds(self.text):
            raise AssertionError(f"The terminal shows:\n{self.text}")

    async def left(self, within: float = PATIENCE) -> int:
        """The exit code, once all it said has been read."""
        async with asyncio.timeout(within):
            code = await self.process.wait()
        self._read()
        if self.master >= 0:
            self.restored = termios.tcgetattr(self.slave) == self._modes
        return code

    def _read(self) -> None:
        if self.master < 0:
            return
        with suppress(OSError):  # nothing more for now
            while data := os.read(self.master, 65536):
                self._display.feed(self._decoder.decode(data))
