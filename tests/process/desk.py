"""Somebody who runs `claude-sessions setup`: their machine, their terminal and their phone."""

from __future__ import annotations

import re
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.botapi import BotApi, Person
from tests.process.machine import Machine
from tests.process.terminal import Terminal

CODE = re.compile(r"^    (\d{6})$", re.MULTILINE)
IS_THAT_YOU = "is that you? [Y/n]:"

# Writes down what it is asked; `is-active` and whatever stands in `refused` fail.
SYSTEMCTL = """#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/asked"
[ "$2" != is-active ] || exit 3
if grep -qxe "$2" "$here/refused" 2>/dev/null; then echo "No, not $2." >&2; exit 1; fi
if grep -qxe "$2" "$here/slow" 2>/dev/null; then exec sleep 600; fi
"""


@dataclass(frozen=True, slots=True)
class Desk:
    """A person's machine, and the bot they are about to connect."""

    machine: Machine
    api: BotApi
    bin: Path

    @property
    def config(self) -> Path:
        return self.machine.sandbox.home / ".config" / "claude-sessions" / "config.toml"

    @property
    def token_file(self) -> Path:
        return self.config.with_name("telegram.token")

    @property
    def unit(self) -> Path:
        return self.config.parent.parent / "systemd" / "user" / "claude-sessions.service"

    @property
    def asked(self) -> list[str]:
        file = self.bin / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def has_systemd(self) -> None:
        (self.bin / "refused").unlink()

    def with_env(self, **more: str) -> Desk:
        sandbox = self.machine.sandbox
        sandbox = replace(sandbox, extra={**sandbox.extra, **more})
        return replace(self, machine=replace(self.machine, sandbox=sandbox))

    def setup(self, *more: str) -> AbstractAsyncContextManager[Terminal]:
        return self.machine.at_terminal(self.machine.command("setup", *more))

    def files(self) -> dict[str, tuple[int, bytes]]:
        """All that setup could have written."""
        found = [path for path in self.config.parent.parent.rglob("*") if path.is_file()]
        return {str(path): (path.stat().st_mode, path.read_bytes()) for path in found}


async def shown_code(terminal: Terminal, nth: int = 1) -> str:
    await terminal.until(lambda shown: len(CODE.findall(shown)) >= nth)
    return [found[1] for found in CODE.finditer(terminal.text)][nth - 1]


async def give_token(terminal: Terminal, token: str, times: int = 1) -> None:
    await terminal.shows("Token:", times=times)
    terminal.type(token)


async def pair(terminal: Terminal, person: Person) -> None:
    code = await shown_code(terminal)
    await person.says("/start")
    await person.says(code)
    await terminal.shows(IS_THAT_YOU)
    terminal.type("")


async def answer(terminal: Terminal, question: str, text: str = "") -> None:
    await terminal.shows(question)
    terminal.type(text)


async def walk(terminal: Terminal, token: str, person: Person, *, until: str) -> None:
    """Answer everything with Enter, up to the question given."""
    await terminal.shows("Token:")
    if until == "Token:":
        return
    terminal.type(token)
    code = await shown_code(terminal)
    await terminal.shows("It is good for")
    if until == "It is good for":
        return
    await person.says(code)
    for question in (IS_THAT_YOU, "Your name", "service?"):
        await terminal.shows(question)
        if until == question:
            return
        terminal.type("")


async def walk_to_the_end(terminal: Terminal, desk: Desk, person: Person) -> None:
    await give_token(terminal, desk.api.token)
    await pair(terminal, person)
    await answer(terminal, "Your name")
    await answer(terminal, "Sessions may work")
    await answer(terminal, "systemd user service? [Y/n]:")
