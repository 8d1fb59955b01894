"""`claude-sessions token`: what lets programs in."""

from __future__ import annotations

from typing import Annotated

import typer

from claude_sessions.client import tables
from claude_sessions.client.address import Given
from claude_sessions.client.exits import answering
from claude_sessions.client.options import AsJson, Home, TokenFile, Url, rpc, show, show_json
from claude_sessions.model import Role

app = typer.Typer(
    help="Tokens for programs: make, list, revoke.", no_args_is_help=True, rich_markup_mode=None
)


@app.command()
def new(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Who it is for.", show_default=False)
    ] = None,
    role: Annotated[Role, typer.Option("--role", help="What it may do.")] = Role.VIEWER,
    days: Annotated[
        float | None, typer.Option("--days", help="Until it expires; default: when revoked.")
    ] = None,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """Make a token. It is shown this once, alone on standard output."""
    with answering():
        wanted = {"name": name or role.value, "role": role.value, "days": days}
        daemon = rpc(Given(url=url, token_file=token_file, home=home))
        made = daemon.call("claude-code.tokens.new", wanted)
        if as_json:
            show_json(made)
            return
        show([made["token"]])
        about = f"{made['name']} · {made['role']} · expires {tables.expiry(made)} · {made['id']}"
        typer.echo(f"{about}\nIt is not shown again.", err=True)


@app.command("list")
def list_tokens(
    as_json: AsJson = False, url: Url = None, token_file: TokenFile = None, home: Home = None
) -> None:
    """The tokens there are; never their secrets."""
    with answering():
        told = rpc(Given(url=url, token_file=token_file, home=home)).call("claude-code.tokens")
        if as_json:
            show_json(told)
        else:
            show(tables.tokens(told))


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id or its name.")],
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """It opens nothing from now on; connections it has open end."""
    with answering():
        daemon = rpc(Given(url=url, token_file=token_file, home=home))
        told = daemon.call("claude-code.tokens.revoke", {"ref": token})
        if as_json:
            show_json(told)
        else:
            show([f"{told['name']} [{told['id']}] opens nothing from now on."])
