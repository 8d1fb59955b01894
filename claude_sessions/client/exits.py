"""How a command ended, for scripts: each exit code means one thing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from io import TextIOWrapper
from typing import TYPE_CHECKING

import typer

from claude_sessions.errors import ConfigError, SessionsError

if TYPE_CHECKING:
    from claude_sessions.channel import Action

EXITS = """\b
Exit codes:
  0  done
  1  refused, or it failed: stderr has a sentence that says why
  2  the command line, or the configuration, makes no sense
  3  the daemon is not running, or cannot be reached
  4  not authorised: the token, or its role, does not allow it
  5  not found
  6  conflict: it cannot be done as things stand
  130  interrupted
"""


class Exit(IntEnum):
    DONE = 0
    FAILED = 1
    USAGE = 2
    AWAY = 3
    UNAUTHORISED = 4
    NOT_FOUND = 5
    CONFLICT = 6
    INTERRUPTED = 130


# What the gateway calls it; anything else has simply failed.
MEANINGS: dict[str, Exit] = {
    "VALIDATION_ERROR": Exit.USAGE,
    "METHOD_NOT_FOUND": Exit.USAGE,
    "UNAUTHORIZED": Exit.UNAUTHORISED,
    "TOKEN_EXPIRED": Exit.UNAUTHORISED,
    "INVALID_TOKEN": Exit.UNAUTHORISED,
    "FORBIDDEN": Exit.UNAUTHORISED,
    "NOT_FOUND": Exit.NOT_FOUND,
    "CONFLICT": Exit.CONFLICT,
}


class Failed(SessionsError):
    def __init__(
        self, message: str, exit: Exit = Exit.FAILED, *, actions: Sequence[Action] = ()
    ) -> None:
        self.exit = exit
        self.actions = tuple(actions)
        super().__init__(message)

    @classmethod
    def told(cls, code: str, message: str, *, actions: Sequence[Action] = ()) -> Failed:
        """The daemon's own refusal."""
        return cls(message, MEANINGS.get(code, Exit.FAILED), actions=actions)


@contextmanager
def answering() -> Iterator[None]:
    """Errors are sentences; whoever stops it, or reads no further, hears nothing more."""
    try:
        _whatever_it_can_show()
        yield
        sys.stdout.flush()
    except Failed as error:
        raise _said(error, error.exit) from error
    except ConfigError as error:
        raise _said(error, Exit.USAGE) from error
    except SessionsError as error:
        raise _said(error, Exit.FAILED) from error
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None
    except BrokenPipeError:
        _write_no_more()
        raise typer.Exit(Exit.DONE) from None
    except UnicodeEncodeError:  # a shell passes on any bytes
        raise _said(Failed("What you gave is not UTF-8."), Exit.USAGE) from None
    except OSError as error:
        _write_no_more()
        raise _said(Failed(f"It cannot be done here: {error}."), Exit.FAILED) from error


def _whatever_it_can_show() -> None:
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - as long as we run
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _write_no_more() -> None:
    """What is left goes nowhere, also at the very end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _said(error: SessionsError, exit: Exit) -> typer.Exit:
    typer.echo(str(error), err=True)
    return typer.Exit(exit)
