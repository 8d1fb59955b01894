"""Asking the `claude` program something, as one would in a shell, but without one."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What it printed."""

    code: int
    out: str
    err: str


class NoAnswer(Exception):
    """The program could not be run, or took too long."""


class TooSlow(NoAnswer):
    """It was stopped."""


async def ask(
    cli: Path | str,
    *arguments: str,
    env: Mapping[str, str],
    patience: float,
    cwd: str = "/",  # a project's own settings must have no say, unless they are meant
    called: str = "",
) -> Answer:
    """`called`: what an error says instead of the arguments, which may hold secrets."""
    try:
        process = await asyncio.create_subprocess_exec(
            cli,
            *arguments,
            env=dict(env),
            cwd=cwd,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except OSError as error:  # it may be the directory that is gone
        why = f"{error.strerror}: {error.filename}"
        raise NoAnswer(f"{cli} cannot be run ({why})") from error
    except ValueError as error:
        raise NoAnswer(f"{cli} cannot be run ({error})") from error
    try:
        async with asyncio.timeout(patience):
            out, err = await process.communicate()
    except TimeoutError as error:
        called = called or f"{cli} {' '.join(arguments)}"
        raise TooSlow(f"{called} took more than {patience:g} s") from error
    finally:
        with suppress(ProcessLookupError):  # also what it may have left behind
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return Answer(
        code=process.returncode or 0,
        out=out.decode(errors="replace"),
        err=err.decode(errors="replace"),
    )


async def version_of(cli: Path, env: Mapping[str, str], patience: float = 15.0) -> str | None:
    """None: it does not say."""
    try:
        answer = await ask(cli, "--version", env=env, patience=patience)
    except NoAnswer:
        return None
    found = re.search(r"\d+\.\d+\.\d+", answer.out)
    return found[0] if found and not answer.code else None
