"""`make demo`: the whole product with no account and no key; only the model is a script.

On a terminal it is a chat. Without one it plays the guided tour and ends.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from claude_sessions import logs
from claude_sessions.channel import ChannelClosed
from claude_sessions.claude_cli import ask
from claude_sessions.config import make_home
from claude_sessions.console import CONSOLE, ConsoleChannel, Screen, serve_console
from claude_sessions.daemon import Daemon, open_daemon
from claude_sessions.demo import Sandbox, ScriptedModel
from claude_sessions.demo.story import make_project, story
from claude_sessions.demo.tour import PATIENCE, Tour
from claude_sessions.errors import SessionsError
from claude_sessions.settings import Settings
from claude_sessions.stopping import first, stop_signals

GREETING = """\
No account, no key: the CLI is real, the model is a script. Try:
  /new --fg --name fix-auth --dir web Users are logged out after refresh
  then 1 to allow what it asks, plain text to talk to it, /sessions, /help, /quit
and in another terminal:
  {client} ls --home {home}"""
CLIENT = Path(sys.executable).with_name("claude-sessions")


@contextmanager
def passing_place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="claude-sessions-demo-") as place:
        yield Path(place).resolve()


async def main() -> int:
    """Whoever stops it: no process and no file is left."""
    interactive = os.isatty(0)
    with stop_signals() as told, passing_place() as root:
        web = make_project(root / "projects")
        logs.configure(level="warning", as_json=False, file=root / "log")
        async with ScriptedModel(story(web)) as model:
            sandbox = Sandbox(root, model.url)
            # The sandbox's environment is made from nothing, so all of it may reach Claude.
            given = {"default_workdir": str(web.parent), "pass_env": ["*"]}
            settings = Settings.model_validate({"sessions": given, "gateway": {"port": 0}})
            home = make_home(root / "state")
            async with open_daemon(settings, home, environ=sandbox.env) as daemon:
                greeting = GREETING.format(client=CLIENT, home=home)
                elsewhere = partial(asked, home, sandbox.env)
                show = (
                    serve_console(daemon, greeting=greeting)
                    if interactive
                    else guided(daemon, elsewhere)
                )
                await first(signals=told.wait(), show=show)
        return 1 if told.is_set() else 0


async def guided(daemon: Daemon, elsewhere: Callable[[str], Awaitable[str]]) -> None:
    screen = Screen.on(sys.stdout.fileno())
    channel = ConsoleChannel(screen)
    caller = daemon.local_caller("terminal", CONSOLE)

    async def type_(line: str) -> None:
        await channel.say(f"> {line}")
        try:
            await channel.reply(await daemon.hear(line, caller))
        except SessionsError as error:
            await channel.say(str(error))

    async def client(line: str) -> None:
        await channel.say(f"$ claude-sessions {line}")
        await channel.say(await elsewhere(line))

    async def narrate(text: str) -> None:
        await channel.say(f"\n── {text}")

    daemon.router.attach(channel, caller=str(caller))
    await screen.open()
    try:
        with suppress(ChannelClosed):  # nobody reads on: `make demo | head`
            await Tour(daemon, type_, narrate, client).walk()
    finally:
        await daemon.router.detach(channel.id)
        await screen.close()


async def asked(home: Path, env: Mapping[str, str], line: str) -> str:
    """What the program itself answers, in a process of its own."""
    words = [*shlex.split(line), "--home", str(home)]
    told = await ask(sys.executable, "-m", "claude_sessions", *words, env=env, patience=PATIENCE)
    return (told.out + told.err).rstrip()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
