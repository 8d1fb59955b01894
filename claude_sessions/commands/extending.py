"""Claude's plugins, and the marketplaces that they come from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.commands import extended
from claude_sessions.commands.finding import directory_for
from claude_sessions.commands.pool import Pool
from claude_sessions.errors import BadRequest, CommandFailed
from claude_sessions.extensions import asked
from claude_sessions.extensions.extensions import Place
from claude_sessions.extensions.plugins import Marketplace, Plugin, named
from claude_sessions.extensions.secrets import address
from claude_sessions.model import ConfigScope
from claude_sessions.people import Caller

IN_A_DIRECTORY = (ConfigScope.PROJECT, ConfigScope.LOCAL)


def by_people_only(caller: Caller) -> None:
    """What is added here runs on this machine, in every session."""
    if caller.agent:
        caller.must_be_admin_to_loosen("Changing plugins or MCP servers")


async def place_for(pool: Pool, scope: ConfigScope | None, directory: str | None) -> Place:
    if scope in IN_A_DIRECTORY and directory is None:
        raise BadRequest(f"The scope {scope} is about one directory: say which with --dir.")
    there = None if directory is None else await directory_for(pool, directory)
    return Place(scope=scope, directory=there)


async def list_plugins(pool: Pool, command: c.ListPlugins, caller: Caller) -> c.Reply:
    place = await place_for(pool, None, command.directory)
    plugins = await pool.extensions.plugins(place.directory)
    data: dict[str, Any] = {"plugins": [plugin.data() for plugin in plugins]}
    text, actions = extended.plugins(plugins)
    again = extended.line("/plugins", command.directory)
    if command.available:
        available = await pool.extensions.available(place.directory)
        data["available"] = [each.data() for each in available]
        text, actions = extended.available(available)
        again = extended.line("/plugins available", command.directory)
    return c.Reply(text=text, data=data, actions=actions, again=again)


async def list_marketplaces(pool: Pool, command: c.ListMarketplaces, caller: Caller) -> c.Reply:
    found = await pool.extensions.marketplaces()
    text, actions = extended.marketplaces(found)
    data = {"marketplaces": [each.data() for each in found]}
    return c.Reply(text=text, data=data, actions=actions, again="/plugins marketplaces")


async def change_plugin(pool: Pool, command: c.ChangePlugin, caller: Caller) -> c.Reply:
    by_people_only(caller)
    ref = asked.plugin(command.plugin)
    place = await place_for(pool, command.scope, command.directory)
    output = await _way(pool, command)(ref, place)
    plugin = await _as_it_stands(pool, ref, place)
    fact = _fact(command, plugin, ref, place)
    await pool.log.append(e.Draft(payload=fact, caller=str(caller)))
    is_new = isinstance(command, c.InstallPlugin)
    text = extended.installed(output, plugin) if is_new else extended.changed(output)
    known = {"plugin": plugin.data()} if plugin else {}
    return c.Reply(text=text, data={"success": True, "output": output, **known})


async def _as_it_stands(pool: Pool, ref: str, place: Place) -> Plugin | None:
    """What has been done is done, also when it cannot be looked at."""
    with suppress(CommandFailed):
        return named(await pool.extensions.plugins(place.directory), ref)
    return None


def _way(pool: Pool, command: c.ChangePlugin) -> Callable[[str, Place], Awaitable[str]]:
    match command:
        case c.InstallPlugin():
            return pool.extensions.install
        case c.UpdatePlugin():
            return pool.extensions.update
        case c.EnablePlugin():
            return pool.extensions.enable
    return pool.extensions.disable


def _fact(command: c.ChangePlugin, plugin: Plugin | None, ref: str, place: Place) -> e.Payload:
    name, version = (plugin.id, plugin.version) if plugin else (ref, "")
    scope, directory = place.scope, place.directory
    match command:
        case c.InstallPlugin():
            return e.PluginInstalled(name=name, version=version, scope=scope, directory=directory)
        case c.UpdatePlugin():
            return e.PluginUpdated(name=name, version=version, scope=scope, directory=directory)
    enabled = isinstance(command, c.EnablePlugin)
    return e.PluginSwitched(name=name, enabled=enabled, scope=scope, directory=directory)


async def uninstall_plugin(pool: Pool, command: c.UninstallPlugin, caller: Caller) -> c.Reply:
    by_people_only(caller)
    ref = asked.plugin(command.plugin)
    place = await place_for(pool, command.scope, command.directory)
    if not command.confirmed:
        words = extended.plugin_line("uninstall", ref, command.scope, command.directory)
        text, actions = extended.sure(f"Uninstall {ref}, with what it has saved?", words)
        return c.Reply(text=text, data={"success": False, "output": text}, actions=actions)
    output = await pool.extensions.uninstall(ref, place)
    fact = e.PluginUninstalled(name=ref, scope=place.scope, directory=place.directory)
    await pool.log.append(e.Draft(payload=fact, caller=str(caller)))
    return c.Reply(text=extended.changed(output), data={"success": True, "output": output})


async def add_marketplace(pool: Pool, command: c.AddMarketplace, caller: Caller) -> c.Reply:
    by_people_only(caller)
    source = command.source.strip()
    if asked.is_path(source):
        source = pool.workdirs.resolve(source, to="take plugins from")
    before = {each.name for each in await pool.extensions.marketplaces()}
    output = await pool.extensions.add_marketplace(source)
    added = None
    with suppress(CommandFailed):
        added = _new(await pool.extensions.marketplaces(), before, source)
    fact = e.MarketplaceAdded(source=address(source), name=added.name if added else "")
    await pool.log.append(e.Draft(payload=fact, caller=str(caller)))
    known = {"marketplace": added.data()} if added else {}
    text, actions = extended.added_marketplace(output)
    return c.Reply(text=text, data={"success": True, "output": output, **known}, actions=actions)


def _new(found: tuple[Marketplace, ...], before: set[str], source: str) -> Marketplace | None:
    """The one that was not there; else, where it was there already, the one from that source."""
    new = (each for each in found if each.name not in before)
    same = (each for each in found if Path(each.url) == Path(address(source)))
    return next(new, next(same, None))


async def remove_marketplace(pool: Pool, command: c.RemoveMarketplace, caller: Caller) -> c.Reply:
    by_people_only(caller)
    name = asked.marketplace(command.name)
    if not command.confirmed:
        question = f"Remove the marketplace {name}, and the plugins that came from it?"
        text, actions = extended.sure(question, f"/plugins marketplace remove {name}")
        return c.Reply(text=text, data={"success": False, "output": text}, actions=actions)
    output = await pool.extensions.remove_marketplace(name)
    await pool.log.append(e.Draft(payload=e.MarketplaceRemoved(name=name), caller=str(caller)))
    return c.Reply(text=extended.changed(output), data={"success": True, "output": output})
