"""The client's commands: each is one call to the daemon, and what to show of its answer."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from enum import StrEnum
from typing import Annotated, Any

import typer

from claude_sessions.client import tables
from claude_sessions.client.address import Given
from claude_sessions.client.exits import Exit, Failed, answering
from claude_sessions.client.options import (
    AsJson,
    Home,
    Name,
    TokenFile,
    Url,
    piped,
    rpc,
    show,
    show_json,
    text_of,
)
from claude_sessions.commands import DEFAULT_RESUME_PROMPT, Respond, Resume
from claude_sessions.commands.lexer import quote
from claude_sessions.commands.lines import line_of
from claude_sessions.model import PermissionMode

app = typer.Typer()

Words = Annotated[list[str] | None, typer.Argument(show_default=False)]


class Wanted(StrEnum):
    ALL = "all"
    RUNNING = "running"
    ASLEEP = "asleep"
    COMPLETED = "completed"
    FAILED = "failed"
    KILLED = "killed"


class Reach(StrEnum):
    """Of an allowance."""

    ONCE = "once"
    SESSION = "session"
    PROJECT = "project"
    USER = "user"


@app.command("ls")
def list_sessions(
    status: Annotated[Wanted, typer.Option("--status", help="Only those.")] = Wanted.ALL,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """List the sessions, the one touched last first."""
    with answering():
        daemon = rpc(Given(url=url, token_file=token_file, home=home))
        told = daemon.call("claude-code.sessions", {"status": status.value})
        if as_json:
            show_json(told)
        else:
            show(tables.sessions(told, now=time.time() * 1000, width=_width()))


@app.command()
def new(
    prompt: Words = None,
    name: Annotated[str | None, typer.Option("--name", help="What it is called.")] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "--dir",
            help="Where it works: ./here, or a project; default: [sessions] default_workdir.",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option("--model")] = None,
    mode: Annotated[
        PermissionMode | None, typer.Option("--mode", help="How it asks for permission.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="What it may spend, in dollars.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="One turn, and it is over.")] = False,
    queue: Annotated[
        bool, typer.Option("--queue", help="Wait in line when every process is at work.")
    ] = False,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """Start a session. Without a prompt, or with -, it is read from a pipe."""
    with answering():
        order = {
            "prompt": text_of(prompt, "The prompt"),
            "name": name,
            "workdir": _directory(directory),
            "model": model,
            "permissionMode": mode.value if mode else None,
            "maxBudgetUsd": budget,
            "multiTurnDisabled": once,
            "queue": queue,
        }
        given = {key: value for key, value in order.items() if value is not None}
        told = rpc(Given(url=url, token_file=token_file, home=home)).call(
            "claude-code.launch", given
        )
        if as_json:
            show_json(told)
        else:
            show(tables.launched(told))
            if name and told["name"] != name:
                typer.echo(f"The name {name} is taken; this one is {told['name']}.", err=True)


@app.command()
def say(
    name: Name,
    text: Words = None,
    steer: Annotated[bool, typer.Option("--steer", help="Into the turn that runs.")] = False,
    interrupt: Annotated[
        bool, typer.Option("--interrupt", help="Instead of the turn that runs.")
    ] = False,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """Say something to a session; while it is busy, that is queued."""
    with answering():
        if steer and interrupt:
            raise Failed("--steer and --interrupt exclude each other.", Exit.USAGE)
        words = text_of(text, "The text")
        line = line_of(Respond(session=name, text=words, steer=steer, interrupt=interrupt))
        _chat(Given(url=url, token_file=token_file, home=home), line or "", as_json)


@app.command()
def tail(
    name: Name,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the session ends.")
    ] = False,
    lines: Annotated[int, typer.Option("-n", min=1, max=100_000, help="Blocks.")] = 10,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """Read what a session said last, or (-f) says from now on."""
    with answering():
        given = Given(url=url, token_file=token_file, home=home)
        if follow:
            from claude_sessions.client.follow import follow_session  # what streams takes a while

            follow_session(given, name, lines=lines, as_json=as_json)
            return
        told = rpc(given).call("claude-code.output", {"session": name, "lines": lines})
        if as_json:
            show_json(told)
        else:
            show(told["lines"])


@app.command()
def approve(
    approval: Annotated[str | None, typer.Argument(metavar="ID", show_default=False)] = None,
    deny: Annotated[
        str | None, typer.Option("--deny", metavar="REASON", help="No, and why.")
    ] = None,
    answer: Annotated[
        str | None, typer.Option("--answer", metavar="TEXT", help="To a question.")
    ] = None,
    scope: Annotated[Reach, typer.Option("--scope", help="For how much else.")] = Reach.ONCE,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """Decide what a session asks; without an ID, list what waits."""
    with answering():
        wider = scope if scope is not Reach.ONCE else None
        line = _deciding(approval, deny=deny, answer=answer, scope=wider)
        given = Given(url=url, token_file=token_file, home=home)
        if approval is None and as_json:  # all of each question, not only its id
            show_json(rpc(given).call("claude-code.approvals"))
        else:
            _chat(given, line, as_json)


def _deciding(
    approval: str | None, *, deny: str | None, answer: str | None, scope: Reach | None
) -> str:
    said = sum(each is not None for each in (deny, answer, scope))
    if approval is None and said:
        raise Failed("Which one? Give its ID; without, this lists what waits.", Exit.USAGE)
    if said > 1:
        raise Failed("--deny, --answer and --scope exclude each other.", Exit.USAGE)
    if approval is None:
        return "/approvals"
    if answer is not None:
        return f"/answer {quote(approval)} -- {answer}"
    if deny is not None:
        return f"/deny {quote(approval)} -- {deny}"
    return f"/allow {quote(approval)} --scope {scope or Reach.ONCE}"


@app.command()
def kill(
    name: Name,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """End a session; it can be resumed."""
    with answering():
        daemon = rpc(Given(url=url, token_file=token_file, home=home))
        told = daemon.call("claude-code.kill", {"session": name})
        if as_json:
            show_json(told)
        else:
            show([told["message"]])


@app.command()
def resume(
    name: Name,
    prompt: Words = None,
    as_json: AsJson = False,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """Go on with a session. With -, the prompt is read from a pipe."""
    with answering():
        words = text_of(prompt, "The prompt") if prompt else DEFAULT_RESUME_PROMPT
        line = line_of(Resume(session=name, prompt=words))
        _chat(Given(url=url, token_file=token_file, home=home), line or "", as_json)


@app.command()
def stats(
    as_json: AsJson = False, url: Url = None, token_file: TokenFile = None, home: Home = None
) -> None:
    """Figures over all sessions."""
    with answering():
        told = rpc(Given(url=url, token_file=token_file, home=home)).call("claude-code.stats")
        if as_json:
            show_json(told)
        else:
            show(told["display"].split("\n"))


@app.command()
def status(
    as_json: AsJson = False, url: Url = None, token_file: TokenFile = None, home: Home = None
) -> None:
    """How the daemon, its doors and its pool stand."""
    with answering():
        _chat(Given(url=url, token_file=token_file, home=home), "/status", as_json)


@app.command()
def chat(
    name: Annotated[str, typer.Option("--name", help="What this terminal is called.")] = "terminal",
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """The chat, in this terminal; leaving it ends nothing."""
    with answering():
        from claude_sessions.client.chat import chat_here  # what streams takes a while

        chat_here(Given(url=url, token_file=token_file, home=home), name)


@app.command("rpc")
def call(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="rpc.discover lists them.")],
    params: Annotated[
        str | None, typer.Argument(metavar="JSON", help="- reads it from a pipe.")
    ] = None,
    url: Url = None,
    token_file: TokenFile = None,
    home: Home = None,
) -> None:
    """Call a method of the daemon, and print its result as JSON."""
    with answering():
        given = _params(piped() if params == "-" else params or "{}")
        show_json(rpc(Given(url=url, token_file=token_file, home=home)).call(method, given))


def _params(text: str) -> dict[str, Any]:
    try:
        params = json.loads(text)
        json.dumps(params, allow_nan=False)  # which Python reads, and nobody else
    except (ValueError, RecursionError) as error:
        raise Failed(f"The parameters are not JSON: {error}.", Exit.USAGE) from error
    if not isinstance(params, dict):
        raise Failed('The parameters are not an object: write {"name": "value"}.', Exit.USAGE)
    return params


def _chat(given: Given, line: str, as_json: bool) -> None:
    told = rpc(given).chat(line)
    if as_json:
        show_json(told)
    else:
        show(told["text"].split("\n"))


def _directory(given: str | None) -> str | None:
    """What is meant from here is told in full; a project's name is the daemon's to understand."""
    if given is None or not given.startswith("."):
        return given
    return os.path.abspath(given)


def _width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
