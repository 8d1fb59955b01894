"""What every command takes, and the daemon it then speaks to."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from claude_sessions.approvals.visible import visible
from claude_sessions.client.address import Given, locate
from claude_sessions.client.exits import Exit, Failed
from claude_sessions.client.rpc import Rpc

COMPLETING = 1.0  # seconds that somebody who pressed Tab waits

Url = Annotated[
    str | None,
    typer.Option(
        "--url", help="Of the daemon; default: $CLAUDE_SESSIONS_URL, else this machine's."
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", help="Default: $CLAUDE_SESSIONS_TOKEN, else in the home."),
]
Home = Annotated[Path | None, typer.Option("--home", help="Where the daemon's state is.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


def rpc(given: Given) -> Rpc:
    return Rpc(locate(given, os.environ))


def show(lines: Iterable[str]) -> None:
    """On a terminal nothing in it is a command to the terminal."""
    for line in lines:
        print(visible(line) if sys.stdout.isatty() else line)  # noqa: T201


def show_json(value: Any) -> None:
    print(as_json(value, indent=2))  # noqa: T201


def as_json(value: Any, *, indent: int | None = None) -> str:
    """Where not everything can be written as it is, it is escaped: nothing gets lost."""
    anything = sys.stdout.encoding.lower().startswith("utf")
    return json.dumps(value, ensure_ascii=not anything, indent=indent)


def text_of(words: list[str] | None, what: str) -> str:
    """The words, or what is piped in where there are none, or where they are `-`."""
    if words and words != ["-"]:
        return " ".join(words)
    if not words and (sys.stdin is None or sys.stdin.isatty()):
        raise Failed(f"{what} is missing: give it as words, or pipe it in.", Exit.USAGE)
    if text := piped().strip():
        return text
    raise Failed(f"{what} is missing: there was nothing on standard input.", Exit.USAGE)


def piped() -> str:
    try:
        return sys.stdin.read() if sys.stdin is not None else ""
    except UnicodeDecodeError:
        raise Failed("What is piped in is not UTF-8.", Exit.USAGE) from None


def names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Of sessions, for a shell; nothing at all when the daemon does not answer at once."""
    given = Given(**{key: ctx.params.get(key) for key in ("url", "token_file", "home")})
    try:
        told = Rpc(locate(given, os.environ), seconds=COMPLETING).call("claude-code.sessions")
        found = [str(each["name"]) for each in told["sessions"]]
    except Exception:  # noqa: BLE001 - whatever it is, a shell's prompt is not the place to say it
        return []
    return [name for name in found if name.startswith(incomplete)]


Name = Annotated[str, typer.Argument(metavar="NAME", autocompletion=names)]
