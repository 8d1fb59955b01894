"""Plugins and MCP servers of Claude Code, in the shapes of the runner."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import FailFast, Field

from claude_sessions import commands as c
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods.base import Method, Nothing, Params, Shape, Text
from claude_sessions.model import ConfigScope, Transport
from claude_sessions.people import Caller


class PlaceParams(Params):
    directory: str | None = None
    """The one that is meant; default: what holds everywhere."""


class ListParams(PlaceParams):
    available: bool = False
    """Also what could be installed."""


class PluginParams(PlaceParams):
    plugin: Text
    """As plugin@marketplace."""
    scope: ConfigScope | None = None
    """project and local need a directory."""


class SourceParams(Params):
    source: Text
    """A directory, owner/repository or an address."""


class NameParams(Params):
    name: Text


class ServerParams(PlaceParams):
    name: Text


class RemoveParams(ServerParams):
    scope: ConfigScope | None = None
    """project and local need a directory."""


class AddParams(RemoveParams):
    transport: Transport = Transport.STDIO
    command: str = ""
    """For stdio, with `args` and `env`."""
    args: Annotated[tuple[str, ...], FailFast(), Field(max_length=200)] = ()
    url: str = ""
    """For http and sse, with `headers`."""
    env: Annotated[dict[str, str], Field(max_length=100)] = Field(default_factory=dict)
    headers: Annotated[dict[str, str], Field(max_length=100)] = Field(default_factory=dict)


class AuthParams(ServerParams):
    answer: str | None = None
    """The address where the browser was sent to in the end."""


class Plugin(Shape):
    name: str
    version: str
    enabled: bool
    scope: str
    capabilities: list[str]


class Offered(Shape):
    name: str
    description: str


class Plugins(Shape):
    plugins: list[Plugin]
    available: list[Offered] | None = None


class Marketplace(Shape):
    name: str
    url: str


class Marketplaces(Shape):
    marketplaces: list[Marketplace]


class Done(Shape):
    success: bool
    output: str
    plugin: Plugin | None = None
    marketplace: Marketplace | None = None


class Server(Shape):
    name: str
    transport: str
    status: Literal["running", "stopped", "error"]
    last_error: str | None = None
    config: dict[str, Any]


class Servers(Shape):
    servers: list[Server]


class OneServer(Shape):
    server: Server


class Login(Shape):
    auth_required: bool
    auth_url: str | None = None
    status: Literal["authenticated", "pending", "not_required"]


async def plugins(house: House, params: ListParams, caller: Caller) -> Any:
    command = c.ListPlugins(directory=params.directory, available=params.available)
    return (await house.perform(command, caller)).data


def _on_plugin(command: type[Any], **more: Any) -> Any:
    async def act(house: House, params: PluginParams, caller: Caller) -> Any:
        wanted = command(
            plugin=params.plugin, scope=params.scope, directory=params.directory, **more
        )
        return (await house.perform(wanted, caller)).data

    return act


async def marketplaces(house: House, params: Params, caller: Caller) -> Any:
    return (await house.perform(c.ListMarketplaces(), caller)).data


async def add_marketplace(house: House, params: SourceParams, caller: Caller) -> Any:
    return (await house.perform(c.AddMarketplace(source=params.source), caller)).data


async def remove_marketplace(house: House, params: NameParams, caller: Caller) -> Any:
    command = c.RemoveMarketplace(name=params.name, confirmed=True)
    return (await house.perform(command, caller)).data


async def servers(house: House, params: PlaceParams, caller: Caller) -> Any:
    return (await house.perform(c.ListMcpServers(directory=params.directory), caller)).data


async def status(house: House, params: ServerParams, caller: Caller) -> Any:
    command = c.McpServerStatus(server=params.name, directory=params.directory)
    return (await house.perform(command, caller)).data


async def add_server(house: House, params: AddParams, caller: Caller) -> Any:
    command = c.AddMcpServer(
        server=params.name,
        transport=params.transport,
        command=params.command,
        arguments=params.args,
        url=params.url,
        env=params.env,
        headers=params.headers,
        scope=params.scope,
        directory=params.directory,
    )
    return (await house.perform(command, caller)).data


async def remove_server(house: House, params: RemoveParams, caller: Caller) -> Any:
    command = c.RemoveMcpServer(
        server=params.name, scope=params.scope, directory=params.directory, confirmed=True
    )
    return (await house.perform(command, caller)).data


async def auth(house: House, params: AuthParams, caller: Caller) -> Any:
    command = c.AuthMcpServer(server=params.name, directory=params.directory, answer=params.answer)
    return (await house.perform(command, caller)).data


def _method(name: str, summary: str, params: Any, result: Any, act: Any) -> Method[Any]:
    return Method(
        name=f"claude-code.{name}", summary=summary, params=params, result=result, act=act
    )


METHODS: tuple[Method[Any], ...] = (
    _method("plugins.list", "Claude Code's plugins.", ListParams, Plugins, plugins),
    _method(
        "plugins.install",
        "Install a plugin, as plugin@marketplace.",
        PluginParams,
        Done,
        _on_plugin(c.InstallPlugin),
    ),
    _method("plugins.update", "Update a plugin.", PluginParams, Done, _on_plugin(c.UpdatePlugin)),
    _method(
        "plugins.uninstall",
        "Remove a plugin.",
        PluginParams,
        Done,
        _on_plugin(c.UninstallPlugin, confirmed=True),
    ),
    _method(
        "plugins.enable", "Let a plugin take part.", PluginParams, Done, _on_plugin(c.EnablePlugin)
    ),
    _method(
        "plugins.disable",
        "Let a plugin take no part.",
        PluginParams,
        Done,
        _on_plugin(c.DisablePlugin),
    ),
    _method(
        "plugins.marketplaces", "Where plugins come from.", Nothing, Marketplaces, marketplaces
    ),
    _method(
        "plugins.marketplaces.add",
        "Add a marketplace: a directory, a repository or an address.",
        SourceParams,
        Done,
        add_marketplace,
    ),
    _method(
        "plugins.marketplaces.remove",
        "Remove a marketplace.",
        NameParams,
        Done,
        remove_marketplace,
    ),
    _method("mcp.list", "Claude Code's MCP servers, each tried.", PlaceParams, Servers, servers),
    _method("mcp.status", "One MCP server.", ServerParams, OneServer, status),
    _method("mcp.add", "Add an MCP server.", AddParams, Done, add_server),
    _method("mcp.remove", "Remove an MCP server.", RemoveParams, Done, remove_server),
    _method("mcp.auth", "Log in to an MCP server.", AuthParams, Login, auth),
)
