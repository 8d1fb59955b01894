"""A real terminal (a PTY) or a pair of pipes, with somebody at the other end."""

from __future__ import annotations

import asyncio
import codecs
import fcntl
import os
import pty
import struct
import termios
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from claude_sessions.console import Screen
from claude_sessions.console.output import Output
from tests.console.display import Display
from tests.waiting import eventually

COLUMNS = 80


class Person:
    """Types on one descriptor and looks at another. `stdin` and `stdout` are the program's."""

    def __init__(self, *, stdin: int, stdout: int, keys: int, eyes: int) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self._tty = os.isatty(stdout)
        self.display = Display(COLUMNS if self._tty else 1_000_000)
        self.raw = ""
        self._keys = keys
        self._eyes = eyes
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def look(self) -> None:
        try:
            text = self._decoder.decode(os.read(self._eyes, 65536))
        except OSError:
            text = ""
        if not text:
            asyncio.get_running_loop().remove_reader(self._eyes)
        self.raw += text
        self.display.feed(text if self._tty else text.replace("\n", "\r\n"))

    def type(self, text: str) -> None:
        os.write(self._keys, text.encode())

    def look_elsewhere(self) -> None:
        asyncio.get_running_loop().remove_reader(self._eyes)

    def look_again(self) -> None:
        asyncio.get_running_loop().add_reader(self._eyes, self.look)

    def look_away(self) -> None:
        """For good."""
        self.look_elsewhere()
        os.close(self._eyes)

    def hang_up(self) -> None:
        os.close(self._keys)
        self._keys = -1

    @property
    def sees(self) -> str:
        return self.display.text

    async def until(self, text: str) -> None:
        await eventually(lambda: text in self.sees)


@asynccontextmanager
async def looking(person: Person) -> AsyncIterator[Person]:
    person.look_again()
    try:
        yield person
    finally:
        person.look_elsewhere()


@contextmanager
def _closing(*descriptors: int) -> Iterator[None]:
    try:
        yield
    finally:
        for fd in descriptors:
            try:
                os.close(fd)
            except OSError:
                continue  # hung up before


@asynccontextmanager
async def at_a_terminal() -> AsyncIterator[Person]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    with _closing(master, slave):
        person = Person(stdin=slave, stdout=slave, keys=master, eyes=master)
        async with looking(person):
            yield person


@asynccontextmanager
async def at_pipes() -> AsyncIterator[Person]:
    stdin, keys = os.pipe()
    eyes, stdout = os.pipe()
    with _closing(stdin, keys, eyes, stdout):
        person = Person(stdin=stdin, stdout=stdout, keys=keys, eyes=eyes)
        async with looking(person):
            yield person


@asynccontextmanager
async def screen_of(person: Person) -> AsyncIterator[Screen]:
    screen = Screen(Output(person.stdout), tty=os.isatty(person.stdout))
    try:
        yield screen
    finally:
        await screen.close()
