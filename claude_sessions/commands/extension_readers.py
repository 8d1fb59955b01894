"""From the lines of `/plugins` and `/mcp` to the commands they ask for."""

from __future__ import annotations

from collections.abc import Mapping

from claude_sessions import commands as c
from claude_sessions.commands import values
from claude_sessions.commands.lexer import Line, shown
from claude_sessions.model import ConfigScope, Transport

PLUGIN = "The plugin (name@marketplace)"
SERVER = "The server's name"
CHANGES: dict[str, type[c.ChangePlugin]] = {
    "install": c.InstallPlugin,
    "update": c.UpdatePlugin,
    "uninstall": c.UninstallPlugin,
    "enable": c.EnablePlugin,
    "disable": c.DisablePlugin,
}


def plugins(line: Line) -> c.Command:
    word = (line.optional_word() or "list").lower()
    if word in ("list", "available"):
        line.end()
        _takes(line, "dir")
        return c.ListPlugins(directory=line.value("dir"), available=word == "available")
    if word in ("marketplace", "marketplaces"):
        return _marketplace(line)
    if word not in CHANGES:
        known = ", ".join(CHANGES)
        raise line.error(f"/plugins can {known} and marketplace, not “{shown(word)}”.")
    return _plugin(line, CHANGES[word])


def _plugin(line: Line, change: type[c.ChangePlugin]) -> c.Command:
    plugin = line.word(PLUGIN)
    line.end()
    scope, directory = _scope(line), line.value("dir")
    if change is c.UninstallPlugin:
        _takes(line, "scope", "dir", "yes")
        sure = line.has("yes")
        return c.UninstallPlugin(plugin=plugin, scope=scope, directory=directory, confirmed=sure)
    _takes(line, "scope", "dir")
    return change(plugin=plugin, scope=scope, directory=directory)


def _marketplace(line: Line) -> c.Command:
    match line.optional_word():
        case None | "list":
            command: c.Command = c.ListMarketplaces()
        case "add":
            command = c.AddMarketplace(source=line.word("The marketplace's address"))
        case "remove":
            name = line.word("The marketplace's name")
            line.end()
            _takes(line, "yes")
            return c.RemoveMarketplace(name=name, confirmed=line.has("yes"))
        case other:
            raise line.error(f"/plugins marketplace can add and remove, not “{shown(other)}”.")
    line.end()
    _takes(line)
    return command


def mcp(line: Line) -> c.Command:
    word = (line.optional_word() or "list").lower()
    if word == "list":
        line.end()
        _takes(line, "dir")
        return c.ListMcpServers(directory=line.value("dir"))
    if word == "add":
        return _add(line)
    if word not in ("status", "remove", "auth"):
        raise line.error(f"/mcp can add, remove, status and auth, not “{shown(word)}”.")
    return _on_server(line, word, line.word(SERVER))


def _on_server(line: Line, word: str, server: str) -> c.Command:
    answer = line.optional_word() if word == "auth" else None
    line.end()
    directory = line.value("dir")
    match word:
        case "auth":
            _takes(line, "dir")
            return c.AuthMcpServer(server=server, directory=directory, answer=answer)
        case "status":
            _takes(line, "dir")
            return c.McpServerStatus(server=server, directory=directory)
    _takes(line, "scope", "dir", "yes")
    return c.RemoveMcpServer(
        server=server, scope=_scope(line), directory=directory, confirmed=line.has("yes")
    )


def _add(line: Line) -> c.Command:
    server, reached = line.word(SERVER), line.word("The server's command or URL")
    rest = []
    while (word := line.optional_word()) is not None:
        rest.append(word)
    _takes(line, "transport", "scope", "dir", "env", "header")
    transport = _transport(line, reached)
    stdio = transport is Transport.STDIO
    if rest and not stdio:
        raise line.error(f"“{shown(rest[0])}” is too much here: a URL stands alone.")
    return c.AddMcpServer(
        server=server,
        transport=transport,
        command=reached if stdio else "",
        arguments=tuple(rest),
        url="" if stdio else reached,
        env=_pairs(line, "env", "="),
        headers=_pairs(line, "header", ":"),
        scope=_scope(line),
        directory=line.value("dir"),
    )


def _transport(line: Line, reached: str) -> Transport:
    if (word := line.value("transport")) is not None:
        return values.pick(line, word, Transport)
    return Transport.HTTP if "://" in reached else Transport.STDIO


def _scope(line: Line) -> ConfigScope | None:
    word = line.value("scope")
    return values.pick(line, word, ConfigScope) if word else None


def _pairs(line: Line, flag: str, sign: str) -> Mapping[str, str]:
    """What is wrong with one is said without it: it may hold a secret."""
    found: dict[str, str] = {}
    for pair in line.given.get(flag, ()):
        name, has_sign, value = pair.partition(sign)
        if not has_sign or not name.strip():
            shape = "KEY=VALUE" if sign == "=" else '"NAME: VALUE"'
            raise line.error(f"--{flag} takes {shape}.")
        found[name.strip()] = value.strip() if sign == ":" else value
    return found


def _takes(line: Line, *flags: str) -> None:
    if wrong := line.given.keys() - set(flags):
        raise line.error(f"--{min(wrong)} does not go with that.")
