"""Asking the claude program about extensions, and having it change them.

Always with a list of arguments, never through a shell; what it must not be taken for an option
stands behind `--`. Nothing that it says comes out of here with a secret in it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from claude_sessions.approvals.visible import one_line, visible
from claude_sessions.claude_cli import Answer, NoAnswer, TooSlow, ask
from claude_sessions.errors import CommandFailed, EngineError, NotFound
from claude_sessions.extensions import asked
from claude_sessions.extensions.logins import Logins
from claude_sessions.extensions.plugins import (
    Available,
    Marketplace,
    Plugin,
    read_available,
    read_marketplaces,
    read_plugins,
    with_contents,
)
from claude_sessions.extensions.secrets import address, in_address, struck, without
from claude_sessions.extensions.servers import Server, read_list, read_one
from claude_sessions.model import ConfigScope, Transport

log = structlog.get_logger(__name__)

AT_ONCE = 2  # questions
SERVERS = 100  # that are tried together
LONGEST = 20_000
EVERYWHERE = "/"  # a directory with nothing of its own

MISSING = re.compile(
    r"(?:Failed to \w+ (?:plugin|marketplace)[^:]*: )?(?:Plugin|Marketplace) .{1,200} not"
    r" (?:found|installed|in installed)|No MCP server named"
)
DONE = re.compile(r"\A.*(?=[✔✓√] )", re.DOTALL)  # before it stands what it was doing meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds that the program may take."""

    look: float = 10.0
    switch: float = 10.0  # to enable or disable
    add: float = 15.0
    install: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which of Claude's settings are meant. No scope: whichever has it."""

    scope: ConfigScope | None = None
    directory: str | None = None  # None: what holds everywhere

    @property
    def option(self) -> list[str]:
        return [f"--scope={self.scope}"] if self.scope else []


@dataclass(frozen=True, slots=True, kw_only=True)
class NewServer:
    name: str
    transport: Transport
    command: str = ""
    arguments: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def words(self) -> list[str]:
        """Options first: they come out of `asked`, which refuses what makes no sense."""
        begins = [f"--transport={self.transport}"]
        if self.transport is Transport.STDIO:
            reached = asked.words(self.command, self.arguments)
            return [
                *begins,
                *asked.variables(self.env),
                "--",
                asked.new_server(self.name),
                *reached,
            ]
        reached = [asked.url(self.url)]
        return [*begins, *asked.headers(self.headers), "--", asked.new_server(self.name), *reached]

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*self.env.values(), *self.headers.values(), *in_address(self.url))


class Extensions:
    """One change at a time: each rewrites the same few files."""

    def __init__(
        self,
        *,
        cli: Callable[[], Path | None],
        env: Mapping[str, str],
        limits: Limits | None = None,
    ) -> None:
        self._cli = cli
        self._env = env
        self.limits = limits or Limits()
        self.logins = Logins(cli=cli, env=env, patience=self.limits.add)
        self._looking = asyncio.Semaphore(AT_ONCE)
        self._trying = asyncio.Semaphore(AT_ONCE)  # what starts servers, and may take its time
        self._changing = asyncio.Lock()

    # plugins

    async def plugins(self, directory: str | None = None) -> tuple[Plugin, ...]:
        words = ("plugin", "list", "--json")
        found = read_plugins(await self._look(*words, directory=directory))
        if found is None:
            raise _unreadable(words)
        return await asyncio.to_thread(lambda: tuple(map(with_contents, found)))

    async def available(self, directory: str | None = None) -> tuple[Available, ...]:
        words = ("plugin", "list", "--json", "--available")
        found = read_available(await self._look(*words, directory=directory))
        if found is None:
            raise _unreadable(words[:2])
        return found

    async def marketplaces(self) -> tuple[Marketplace, ...]:
        words = ("plugin", "marketplace", "list", "--json")
        found = read_marketplaces(await self._look(*words))
        if found is None:
            raise _unreadable(words)
        return found

    async def install(self, plugin: str, place: Place) -> str:
        return await self._on_plugin("install", plugin, place, self.limits.install)

    async def update(self, plugin: str, place: Place) -> str:
        return await self._on_plugin("update", plugin, place, self.limits.install)

    async def uninstall(self, plugin: str, place: Place) -> str:
        return await self._on_plugin("uninstall", plugin, place, self.limits.add)

    async def enable(self, plugin: str, place: Place) -> str:
        return await self._on_plugin("enable", plugin, place, self.limits.switch)

    async def disable(self, plugin: str, place: Place) -> str:
        return await self._on_plugin("disable", plugin, place, self.limits.switch)

    async def _on_plugin(self, verb: str, plugin: str, place: Place, patience: float) -> str:
        words = ["plugin", verb, *place.option, "--", asked.plugin(plugin)]
        return await self._change(words, place, patience, called=f"plugin {verb} {plugin}")

    async def add_marketplace(self, source: str) -> str:
        """An address, owner/repo or the full path of a directory."""
        given = source if asked.is_path(source) else asked.source(source)
        return await self._change(
            ["plugin", "marketplace", "add", "--", given],
            Place(),
            self.limits.install,
            called=f"plugin marketplace add {address(given)}",
            secrets=in_address(given),
        )

    async def remove_marketplace(self, name: str) -> str:
        words = ["plugin", "marketplace", "remove", "--", asked.marketplace(name)]
        called = f"plugin marketplace remove {name}"
        return await self._change(words, Place(), self.limits.add, called=called)

    # MCP servers

    async def servers(self, directory: str | None = None) -> tuple[Server, ...]:
        return read_list(await self._look("mcp", "list", directory=directory))

    async def server(self, name: str, directory: str | None = None) -> Server:
        words = ("mcp", "get", "--", asked.server(name))
        called = f"mcp get {name}"
        found = read_one(await self._look(*words, directory=directory, called=called))
        if found is None:
            raise _unreadable(words[:2])
        return found

    async def add_server(self, new: NewServer, place: Place) -> str:
        return await self._change(
            ["mcp", "add", *place.option, *new.words()],
            place,
            self.limits.add,
            called=f"mcp add {new.name}",
            secrets=new.secrets,
        )

    async def remove_server(self, name: str, place: Place) -> str:
        words = ["mcp", "remove", *place.option, "--", asked.server(name)]
        return await self._change(words, place, self.limits.add, called=f"mcp remove {name}")

    # asking

    async def _look(self, *words: str, directory: str | None = None, called: str = "") -> str:
        called = called or " ".join(words)
        line = self._trying if words[0] == "mcp" else self._looking
        async with _turn(line, self.limits.look, called):
            answer = await self._ask(words, directory, self.limits.look, called)
        _refuse_failure(answer, called)
        return answer.out

    async def _change(
        self,
        words: Sequence[str],
        place: Place,
        patience: float,
        *,
        called: str,
        secrets: Iterable[str] = (),
    ) -> str:
        """What it says, when it is done."""
        async with _turn(self._changing, patience, called):
            answer = await self._ask(words, place.directory, patience, called)
        _refuse_failure(answer, called, secrets)
        log.info("extension.changed", what=called)
        return DONE.sub("", visible(_told(answer.out, secrets)).strip())

    async def _ask(
        self, words: Sequence[str], directory: str | None, patience: float, called: str
    ) -> Answer:
        cli = self._cli()
        if cli is None:
            raise EngineError("There is no claude program here. claude-sessions doctor says more.")
        # Servers that hang must not hide the others: each is given up before the whole is, and
        # none waits for its turn behind them.
        env = {
            **self._env,
            "MCP_TIMEOUT": str(int(patience * 700)),
            "MCP_SERVER_CONNECTION_BATCH_SIZE": str(SERVERS),
            "MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE": str(SERVERS),
        }
        try:
            return await ask(
                cli,
                *words,
                env=env,
                patience=patience,
                cwd=directory or EVERYWHERE,
                called=f"claude {called}",
            )
        # Without their causes: those may hold the arguments.
        except TooSlow as silence:
            log.warning("extension.unanswered", what=called, why=str(silence))
            raise CommandFailed(f"{silence}. It was stopped; try again.") from None
        except NoAnswer as failure:
            log.warning("extension.unanswered", what=called, why=str(failure))
            raise CommandFailed(
                f"claude {called} failed: {failure}. claude-sessions doctor says more."
            ) from None


@asynccontextmanager
async def _turn(
    line: asyncio.Lock | asyncio.Semaphore, patience: float, called: str
) -> AsyncIterator[None]:
    """Nobody waits for others longer than the program itself may take."""
    try:
        async with asyncio.timeout(patience):
            await line.acquire()
    except TimeoutError:
        raise CommandFailed(
            f"claude {called} was not begun: others before it took {patience:g} s. Try again."
        ) from None
    try:
        yield
    finally:
        line.release()


def _told(said: str, secrets: Iterable[str]) -> str:
    return struck(without(said, secrets)[:LONGEST])


def _refuse_failure(answer: Answer, called: str, secrets: Iterable[str] = ()) -> None:
    if not answer.code:
        return
    said = _told(answer.err.strip() or answer.out.strip(), secrets).lstrip("✘✗× ")
    why = one_line(said, 400) or f"it ended with {answer.code} and said nothing"
    sentence = f"claude {called} failed: {why}"
    raise (NotFound if MISSING.match(said) else CommandFailed)(sentence)


def _unreadable(words: Sequence[str]) -> CommandFailed:
    return CommandFailed(
        f"claude {' '.join(words)} failed: what it says cannot be read."
        " Is this version of the claude program too new? claude-sessions doctor says which it is."
    )
