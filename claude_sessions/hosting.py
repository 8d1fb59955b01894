"""The daemon's own commands: run it, check what it needs, set it up."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import structlog
import typer

from claude_sessions import __version__, logs
from claude_sessions.config import Loaded, config_path, home_path, load, make_home
from claude_sessions.console import serve_console
from claude_sessions.daemon import open_daemon
from claude_sessions.doctor import Finding, examine
from claude_sessions.errors import ConfigError, SessionsError
from claude_sessions.setup import set_up, unit_text
from claude_sessions.stopping import first, stop_signals
from claude_sessions.systemd import tell_systemd
from claude_sessions.telegram.token import refuse_nobody

log = structlog.get_logger()

SELDOM = (20_000, 20, 50)  # cycles: a look through a thousand connections halts all of them
SHARE_SECONDS = 0.0005  # after which a thread that reads pages of the log lets the loop go on

T = TypeVar("T")


def run(config: Path | None, home: Path | None, log_level: str | None) -> None:
    loaded = _load(config, log_level)
    _refusing(lambda: refuse_nobody(loaded.settings))
    place = _refusing(lambda: make_home(home_path(home)))
    chatting = loaded.settings.console.enabled and os.isatty(0)  # stdin may be closed
    logs.configure(
        level=loaded.settings.log.level,
        as_json=loaded.settings.log.format == "json",
        file=place / "claude-sessions.log" if chatting else None,
    )
    _refusing(lambda: asyncio.run(_serve(loaded, place, chatting=chatting)))


async def _serve(loaded: Loaded, home: Path, *, chatting: bool) -> None:
    with stop_signals() as told:
        async with open_daemon(
            loaded.settings, home, environ=os.environ, source=loaded.source
        ) as daemon:
            source = str(loaded.source) if loaded.source else "defaults"
            about = {"version": __version__, "runner": loaded.settings.runner.name}
            sys.setswitchinterval(SHARE_SECONDS)
            gc.freeze()  # what is there now stays: looking through it would halt us for 0.1 s
            gc.set_threshold(*SELDOM)
            log.info("daemon.ready", **about, home=str(home), configuration=source)
            tell_systemd("READY=1")
            try:
                doors = {"console": serve_console(daemon)} if chatting else {}
                await first(signals=told.wait(), log=daemon.log.failed.wait(), **doors)
            finally:
                tell_systemd("STOPPING=1")
                log.info("daemon.stopping", working=len(daemon.manager.working()))
        log.info("daemon.stopped")
    if daemon.log.failure is not None:
        raise SessionsError(f"The log cannot go on: {daemon.log.failure}")


def doctor(config: Path | None, home: Path | None) -> None:
    loaded = _load(config, None)
    place = _refusing(lambda: home_path(home))
    logging.disable()  # the findings say what is wrong
    findings = asyncio.run(examine(loaded.settings, place, loaded.source))
    for finding in findings:
        typer.echo(_line(finding))
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


def _line(finding: Finding) -> str:
    mark = "✅" if finding.ok else "❌"
    remedy = f"\n   → {finding.remedy}" if finding.remedy else ""
    return f"{mark} {finding.name}: {finding.detail}{remedy}"


def setup(config: Path | None, base_url: str | None) -> None:
    logging.disable()  # a library's line could quote the token
    try:
        _refusing(lambda: set_up(config, base_url=base_url, environ=os.environ))
    except KeyboardInterrupt:
        typer.echo("\nStopped. Nothing was changed.", err=True)
        raise typer.Exit(130) from None
    except EOFError:
        typer.echo("\nThe input ended before all was answered. Nothing was changed.", err=True)
        raise typer.Exit(1) from None


def unit(config: Path | None) -> None:
    file = config_path(config) if config else None
    typer.echo(unit_text(os.environ, file), nl=False)


def _load(config: Path | None, log_level: str | None) -> Loaded:
    flags: dict[str, tuple[str, object]] = {"--log-level": ("log.level", log_level)}
    return _refusing(lambda: load(config, environ=os.environ, flags=flags))


def _refusing(act: Callable[[], T]) -> T:
    """Errors are for people: their sentence, no traceback, an exit code that means something."""
    try:
        return act()
    except ConfigError as error:
        for problem in error.problems:
            typer.echo(problem, err=True)
        raise typer.Exit(2) from error
    except SessionsError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
