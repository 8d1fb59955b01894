"""What people are told of Claude's plugins and MCP servers."""

from __future__ import annotations

from collections.abc import Sequence

from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.figures import count
from claude_sessions.commands.lexer import quote
from claude_sessions.extensions.plugins import Available, Marketplace, Plugin
from claude_sessions.extensions.servers import Server, Standing
from claude_sessions.model import ConfigScope

LISTED = 40
PRESSABLE = 8  # rows with buttons
ICONS = {Standing.RUNNING: "🟢", Standing.STOPPED: "⏸", Standing.ERROR: "❌"}
FROM_NOW = "Sessions follow at their next start."


def line(
    head: str, directory: str | None = None, name: str = "", scope: ConfigScope | None = None
) -> str:
    words = [head]
    words += [quote(name)] if name else []
    words += [f"--scope {scope}"] if scope else []
    words += [f"--dir {quote(directory)}"] if directory else []
    return " ".join(words)


def plugin_line(
    verb: str, ref: str, scope: ConfigScope | None = None, directory: str | None = None
) -> str:
    return line(f"/plugins {verb}", directory, ref, scope)


def sure(question: str, words: str) -> tuple[str, tuple[Action, ...]]:
    return question, (Action(label="Yes", line=f"{words} --yes"),)


def changed(output: str) -> str:
    return f"{_first_line(output) or 'Done.'}\n{FROM_NOW}"


def installed(output: str, plugin: Plugin | None) -> str:
    brings = f" It brings {', '.join(plugin.brings)}." if plugin and plugin.brings else ""
    return changed(output) + brings


def _first_line(output: str) -> str:
    return one_line(output.partition("\n")[0], 300)


def plugins(found: Sequence[Plugin]) -> tuple[str, tuple[Action, ...]]:
    if not found:
        more = Action(label="What there is", line="/plugins available")
        return "No plugins. /plugins install NAME@MARKETPLACE installs one.", (more,)
    ordered = sorted(found, key=lambda plugin: (not plugin.enabled, plugin.id))
    lines = [_plugin(plugin) for plugin in ordered[:LISTED]]
    actions = [action for plugin in ordered[:PRESSABLE] for action in _on_plugin(plugin)]
    return "\n".join([*lines, *_more(ordered), count(len(ordered), "plugin")]), tuple(actions)


def _plugin(plugin: Plugin) -> str:
    facts = [f"{_mark(plugin)} {one_line(plugin.id, 80)} {one_line(plugin.version, 24)}"]
    facts += [] if plugin.enabled else ["off"]
    facts.append(one_line(plugin.scope, 20))
    facts += [one_line(plugin.directory, 80)] if plugin.directory else []
    facts += [", ".join(plugin.brings)] if plugin.brings else []
    return " · ".join(facts)


def _mark(plugin: Plugin) -> str:
    return "🧩" if plugin.enabled else "▫️"


def _on_plugin(plugin: Plugin) -> list[Action]:
    """It may be installed in several places: the line says which is meant."""
    scope = next((scope for scope in ConfigScope if scope == plugin.scope), None)
    verbs = ("disable" if plugin.enabled else "enable", "update", "uninstall")
    return [
        Action(
            label=f"{verb.capitalize()} {one_line(plugin.name, 24)}",
            line=plugin_line(verb, plugin.id, scope, plugin.directory),
            row=f"{plugin.id} {plugin.scope} {plugin.directory or ''}",
        )
        for verb in verbs
    ]


def available(found: Sequence[Available]) -> tuple[str, tuple[Action, ...]]:
    if not found:
        return "Nothing more to install. /plugins marketplace add SOURCE brings more.", ()
    lines = [f"{one_line(p.id, 80)}\n   {one_line(p.description, 120)}" for p in found[:LISTED]]
    actions = [
        Action(label=f"Install {one_line(p.id, 40)}", line=plugin_line("install", p.id))
        for p in found[:PRESSABLE]
    ]
    return "\n".join([*lines, *_more(found)]), tuple(actions)


def marketplaces(found: Sequence[Marketplace]) -> tuple[str, tuple[Action, ...]]:
    if not found:
        return "No marketplaces. /plugins marketplace add SOURCE adds one.", ()
    lines = [f"{one_line(m.name, 60)} · {one_line(m.url, 120)}" for m in found[:LISTED]]
    actions = [
        Action(
            label=f"Remove {one_line(m.name, 40)}",
            line=f"/plugins marketplace remove {quote(m.name)}",
        )
        for m in found[:PRESSABLE]
    ]
    return "\n".join([*lines, *_more(found)]), tuple(actions)


def added_marketplace(output: str) -> tuple[str, tuple[Action, ...]]:
    more = Action(label="What there is", line="/plugins available")
    return _first_line(output) or "Added.", (more,)


def servers(found: Sequence[Server], directory: str | None) -> tuple[str, tuple[Action, ...]]:
    if not found:
        return "No MCP servers. /mcp add NAME COMMAND-OR-URL adds one.", ()
    ordered = sorted(found, key=lambda server: (not server.needs_login, server.name))
    lines = [text for server in ordered[:LISTED] for text in _server(server)]
    actions = [a for server in ordered[:PRESSABLE] for a in _on_server(server, directory)]
    return "\n".join([*lines, *_more(ordered), count(len(ordered), "MCP server")]), tuple(actions)


def server(one: Server, directory: str | None) -> tuple[str, tuple[Action, ...]]:
    lines = _server(one)
    lines += [f"   scope: {one_line(scope, 40)}"] if (scope := one.config.get("scope")) else []
    for what in ("env", "headers"):
        if names := one.config.get(what):
            lines.append(f"   {what}: {one_line(', '.join(names), 200)}")
    return "\n".join(lines), tuple(_on_server(one, directory)[1:])


def _server(one: Server) -> list[str]:
    icon = "🔑" if one.needs_login else ICONS[one.standing]
    words = one.standing.value if one.standing is Standing.RUNNING else ""
    facts = [f"{icon} {one_line(one.name, 60)}", one.transport.value, words]
    facts.append(one_line(one.problem, 160))
    return [" · ".join(fact for fact in facts if fact), f"   {one_line(one.reached_by, 120)}"]


def _on_server(one: Server, directory: str | None) -> list[Action]:
    words = {"status": "Show", "auth": "Log in to", "remove": "Remove"}
    if not one.needs_login:
        del words["auth"]
    return [
        Action(
            label=f"{label} {one_line(one.name, 30)}",
            line=line(f"/mcp {verb}", directory, one.name),
            row=one.name,
        )
        for verb, label in words.items()
    ]


def added_server(
    name: str, output: str, directory: str | None, *, secrets: bool
) -> tuple[str, tuple[Action, ...]]:
    lines = [f"🔌 {_first_line(output) or f'Added {name}.'}", FROM_NOW]
    if secrets:
        lines.append("What you wrote still shows what you set: delete it where you can.")
    look = Action(label="Does it work?", line=line("/mcp status", directory, name))
    return "\n".join(lines), (look,)


def log_in(one: Server, address: str, directory: str | None) -> tuple[str, tuple[Action, ...]]:
    text = (
        f"🔑 {one.name} wants a login. Open this address and log in. If your browser then cannot"
        " open the page it is sent to, send me that page's whole address (within ten minutes):\n"
        f"{address}"
    )
    words = line("/mcp auth", directory, one.name)
    return text, (
        Action(label="Send the address", line=f"{words} ", needs_text=True),
        Action(label="Does it work?", line=line("/mcp status", directory, one.name)),
    )


def _more(found: Sequence[object]) -> list[str]:
    return [f"… and {len(found) - LISTED} more"] if len(found) > LISTED else []
