"""The command line: the daemon's own commands, and those of its client.

What the daemon needs takes a second to import, so only its own commands do that, each for itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claude_sessions import __version__
from claude_sessions.client import commands, tokens
from claude_sessions.client.exits import EXITS, answering
from claude_sessions.places import home_path

app = typer.Typer(
    name="claude-sessions",
    help="A pool of named Claude Code sessions, driven from wherever you are.",
    epilog=EXITS,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Config = Annotated[Path | None, typer.Option("--config", help="The configuration file.")]
Home = Annotated[Path | None, typer.Option("--home", help="Where the state is kept.")]
Level = Annotated[str | None, typer.Option("--log-level", help="debug, info, warning or error.")]


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"claude-sessions {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which version this is.", callback=_say_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


@app.command()
def run(config: Config = None, home: Home = None, log_level: Level = None) -> None:
    """Start the daemon, with a chat in this terminal."""
    from claude_sessions import hosting

    hosting.run(config, home, log_level)


@app.command()
def doctor(config: Config = None, home: Home = None) -> None:
    """Check what sessions need, with a remedy for what is missing."""
    from claude_sessions import hosting

    hosting.doctor(config, home)


@app.command()
def setup(
    config: Config = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Of a Bot API server of your own.")
    ] = None,
) -> None:
    """Connect a Telegram bot, in two minutes."""
    from claude_sessions import hosting

    hosting.setup(config, base_url)


@app.command()
def unit(config: Config = None) -> None:
    """Print the systemd user unit for this installation."""
    from claude_sessions import hosting

    hosting.unit(config)


@app.command()
def mcp(
    home: Home = None,
    url: Annotated[str | None, typer.Option("--url", help="Of a daemon elsewhere.")] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="With the token to show there.")
    ] = None,
) -> None:
    """An MCP server on stdin and stdout, for an agent's own use."""
    from claude_sessions.client.mcp_stdio import Place, pump_stdio

    with answering():
        pump_stdio(Place(home=home_path(home), url=url, token_file=token_file))


@app.command()
def version() -> None:
    """Say which version this is."""
    _say_version(True)


app.add_typer(commands.app)
app.add_typer(tokens.app, name="token")


def main() -> None:
    app(prog_name="claude-sessions")
