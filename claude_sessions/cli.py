"""The command line: `claude-sessions run`, `claude-sessions doctor`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import structlog
import typer

from claude_sessions import __version__, logs
from claude_sessions.config import Loaded, home_path, load, make_home
from claude_sessions.daemon import Daemon, open_daemon, tell_systemd
from claude_sessions.doctor import Finding, examine
from claude_sessions.errors import ConfigError, SessionsError

log = structlog.get_logger()

T = TypeVar("T")

app = typer.Typer(
    name="claude-sessions",
    help="A pool of named Claude Code sessions, driven from wherever you are.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Config = Annotated[Path | None, typer.Option("--config", help="The configuration file.")]
Home = Annotated[Path | None, typer.Option("--home", help="Where the state is kept.")]
Level = Annotated[str | None, typer.Option("--log-level", help="debug, info, warning or error.")]


@app.command()
def run(config: Config = None, home: Home = None, log_level: Level = None) -> None:
    """Start the daemon, with a chat in this terminal."""
    loaded = _load(config, log_level)
    place = _refusing(lambda: make_home(home_path(home)))
    chatting = loaded.settings.console.enabled and sys.stdin.isatty()
    logs.configure(
        level=loaded.settings.log.level,
        as_json=loaded.settings.log.format == "json",
        file=place / "claude-sessions.log" if chatting else None,
    )
    _refusing(lambda: asyncio.run(_serve(loaded, place, chatting=chatting)))


async def _serve(loaded: Loaded, home: Path, *, chatting: bool) -> None:
    async with open_daemon(loaded.settings, home, environ=os.environ) as daemon:
        source = str(loaded.source) if loaded.source else "defaults"
        log.info("daemon.ready", version=__version__, home=str(home), configuration=source)
        tell_systemd("READY=1")
        try:
            await (_until_left(daemon) if chatting else _until_told(daemon))
        finally:
            tell_systemd("STOPPING=1")
            log.info("daemon.stopping", working=len(daemon.manager.working()))
    log.info("daemon.stopped")


async def _until_left(daemon: Daemon) -> None:
    from claude_sessions.console import serve_console

    async with asyncio.TaskGroup() as group:
        chat = group.create_task(serve_console(daemon), name="console")
        stop = group.create_task(_until_told(daemon, interrupts=False), name="signals")
        await asyncio.wait({chat, stop}, return_when=asyncio.FIRST_COMPLETED)
        chat.cancel()
        stop.cancel()


async def _until_told(daemon: Daemon, *, interrupts: bool = True) -> None:
    """Until SIGTERM (or Ctrl-C, where no chat takes it), or until the log cannot go on."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGHUP, *((signal.SIGINT,) if interrupts else ()))
    for number in signals:
        loop.add_signal_handler(number, told.set)
    waits = [asyncio.ensure_future(told.wait()), asyncio.ensure_future(daemon.log.failed.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        for number in signals:
            loop.remove_signal_handler(number)
    if daemon.log.failure is not None:
        raise SessionsError(f"The log cannot go on: {daemon.log.failure}")


@app.command()
def doctor(config: Config = None, home: Home = None) -> None:
    """Say whether everything that sessions need is there, each with a remedy."""
    loaded = _load(config, None)
    place = _refusing(lambda: home_path(home))
    findings = asyncio.run(examine(loaded.settings, place, loaded.source))
    for finding in findings:
        typer.echo(_line(finding))
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


def _line(finding: Finding) -> str:
    mark = "✅" if finding.ok else "❌"
    remedy = f"\n   → {finding.remedy}" if finding.remedy else ""
    return f"{mark} {finding.name}: {finding.detail}{remedy}"


@app.command()
def version() -> None:
    """Say which version this is."""
    typer.echo(f"claude-sessions {__version__}")


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


def main() -> None:
    app()
