"""Questions in a terminal, or from a pipe that answers one a line."""

from __future__ import annotations

import getpass
import sys
import termios

import typer


class Dialogue:
    """Ctrl-C raises KeyboardInterrupt and the end of the input EOFError, from any question."""

    def say(self, text: str = "") -> None:
        typer.echo(text)

    def ask(self, question: str, default: str = "") -> str:
        if sys.stdin.isatty():  # what was typed earlier was not meant as an answer
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        typer.echo(f"{question} [{default}]: " if default else f"{question}: ", nl=False)
        return self._line() or default

    def ask_unseen(self, question: str) -> str:
        if sys.stdin.isatty():
            return getpass.getpass(f"{question}: ", sys.stdout).strip()
        typer.echo(f"{question}: ", nl=False)
        return self._line()

    def agrees(self, question: str) -> bool:
        while True:
            answer = self.ask(f"{question} [Y/n]").casefold()
            if answer in ("", "y", "yes", "n", "no"):
                return not answer.startswith("n")
            self.say("Please answer y or n.")

    def _line(self) -> str:
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        if not sys.stdin.isatty():
            typer.echo()  # nobody has pressed Enter here
        return line.strip()
