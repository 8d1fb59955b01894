"""What a person types, or a pipe says, line by line, without a thread."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import termios
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from claude_sessions.console.editor import Interrupt, Leave, Line, LineEditor

CHUNK = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """`seen`: the stamp of what could be chosen when its first character was typed."""

    text: str
    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Ctrl-D or Ctrl-C. `for_good`: there is nobody any more who could say another word."""

    for_good: bool = False


Said = Typed | Left


class Keyboard:
    """`async with` it. `editing`: it takes the line editing of a terminal over from the kernel, so
    that output never lands in the middle of what is being typed; leaving gives it back.
    """

    def __init__(
        self,
        fd: int,
        *,
        editing: bool,
        stamp: Callable[[], int],
        changed: Callable[[LineEditor], None],
    ) -> None:
        self._fd = fd
        self._stamp = stamp
        self._changed = changed
        self._editing = editing
        self._modes: list[Any] = []
        self._handlers: dict[int, Any] = {}
        self._editor = LineEditor()
        self._rest = ""  # of a pipe's line that is not over
        self._seen: int | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._said: asyncio.Queue[Said] = asyncio.Queue()
        self._watching = False

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._on(signal.SIGINT, lambda: self._hear(Left()))
        if self._editing:
            self._modes = termios.tcgetattr(self._fd)
            self._take_over()
            self._on(signal.SIGCONT, self._take_over)
        try:
            loop.add_reader(self._fd, self._read)
            self._watching = True
        except PermissionError:  # a file is always ready, and cannot be waited for
            while not self._read():
                pass
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        for number, handler in self._handlers.items():
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, handler)
        if self._editing:
            with suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(self._fd, termios.TCSADRAIN, self._modes)

    def _on(self, number: int, act: Callable[[], None]) -> None:
        before = signal.getsignal(number)
        with suppress(ValueError, RuntimeError):  # only the main thread hears signals
            asyncio.get_running_loop().add_signal_handler(number, act)
            self._handlers[number] = before

    async def said(self) -> Said:
        return await self._said.get()

    def _take_over(self) -> None:
        modes = [*self._modes[:6], list(self._modes[6])]
        modes[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        modes[6][termios.VINTR] = b"\x00"  # Ctrl-C is a key like any other
        with suppress(termios.error):
            termios.tcsetattr(self._fd, termios.TCSADRAIN, modes)
        self._changed(self._editor)

    def _read(self) -> bool:
        """True: it has ended."""
        try:
            data = os.read(self._fd, CHUNK)
        except OSError:  # the terminal was closed
            data = b""
        if not data:
            self._stop()
            if self._rest:
                self._hear(Typed(text=self._rest, seen=self._stamp()))
            self._hear(Left(for_good=True))
        elif self._editing:
            self._typed(self._decoder.decode(data))
        else:
            *whole, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
            for line in whole:
                self._hear(Typed(text=line.removesuffix("\r"), seen=self._stamp()))
        return not data

    def _typed(self, keys: str) -> None:
        if self._editor.empty:
            self._seen = self._stamp()
        seen = self._stamp() if self._seen is None else self._seen
        for key in self._editor.feed(keys):
            match key:
                case Line(text):
                    self._hear(Typed(text=text, seen=seen))
                    seen = self._seen = self._stamp()
                case Interrupt() | Leave():
                    self._hear(Left())
        self._changed(self._editor)

    def _hear(self, said: Said) -> None:
        self._said.put_nowait(said)

    def _stop(self) -> None:
        if self._watching:
            self._watching = False
            asyncio.get_running_loop().remove_reader(self._fd)
