"""Plugins and MCP servers of Claude Code.

`scope` and `directory` are ours, and so is what the runner's contract has no address for: what
could be installed, one server's status, removing a marketplace.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from pydantic import FailFast, Field, JsonValue

from claude_sessions import commands as c
from claude_sessions.gateway.asking import Body, Query
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND
from claude_sessions.gateway.rest.operation import Asked, NoBody, NoQuery, Operation, Page, Resource
from claude_sessions.model import ConfigScope, Transport

Name = Annotated[str, Field(min_length=1, max_length=200)]
Place = Annotated[str | None, Field(min_length=1, max_length=4096)]
Settings = Annotated[dict[str, str], Field(max_length=100)]


class Where(Query):
    directory: Place = None
    """The one that is meant; default: what holds everywhere."""


class Removal(Where):
    scope: ConfigScope | None = None


class Placed(Body):
    scope: ConfigScope | None = None
    """project and local need a directory."""
    directory: Place = None
    """The one that is meant; default: what holds everywhere."""


class NewPlugin(Placed):
    package: Name
    """As plugin@marketplace."""


class NamedPlugin(Placed):
    name: Name
    """As plugin@marketplace."""


class NewMarketplace(Body):
    url: Annotated[str, Field(min_length=1, max_length=4096)]
    """A directory, owner/repository or an address."""


class ServerConfig(Body):
    """`command`, `args` and `env` for stdio; `url` and `headers` for the others."""

    command: Annotated[str, Field(max_length=4096)] = ""
    args: Annotated[tuple[str, ...], FailFast(), Field(max_length=200)] = ()
    env: Settings = Field(default_factory=dict, repr=False)
    url: Annotated[str, Field(max_length=4096)] = ""
    headers: Settings = Field(default_factory=dict, repr=False)


class NewServer(Placed):
    name: Name
    transport: Transport
    config: ServerConfig


class Login(Body):
    directory: Place = None
    answer: Annotated[
        str | None, Field(description="Where the browser was sent to in the end.", repr=False)
    ] = None


class PluginResource(Resource):
    name: str
    version: str
    enabled: bool
    scope: str
    capabilities: list[str]


class OfferedResource(Resource):
    name: str
    description: str


class MarketplaceResource(Resource):
    name: str
    url: str


class Done(Resource):
    success: bool
    output: str
    plugin: PluginResource | None = None
    marketplace: MarketplaceResource | None = None


class ServerResource(Resource):
    name: str
    transport: str
    status: Literal["running", "stopped", "error"]
    last_error: str | None = None
    config: dict[str, JsonValue]


class LoginResource(Resource):
    auth_required: bool
    auth_url: str | None = None
    status: Literal["authenticated", "pending", "not_required"]


async def plugins(house: House, asked: Asked[Where, NoBody]) -> Page:
    command = c.ListPlugins(directory=asked.query.directory)
    return Page(data=(await house.perform(command, asked.caller)).data["plugins"])


async def available(house: House, asked: Asked[Where, NoBody]) -> Page:
    command = c.ListPlugins(directory=asked.query.directory, available=True)
    return Page(data=(await house.perform(command, asked.caller)).data["available"])


async def install(house: House, asked: Asked[NoQuery, NewPlugin]) -> Any:
    body = asked.body
    command = c.InstallPlugin(plugin=body.package, scope=body.scope, directory=body.directory)
    return (await house.perform(command, asked.caller)).data


Change = Callable[[House, Asked[NoQuery, NamedPlugin]], Awaitable[Any]]


def _change(kind: type[c.ChangePlugin], **more: Any) -> Change:
    async def act(house: House, asked: Asked[NoQuery, NamedPlugin]) -> Any:
        body = asked.body
        command = kind(plugin=body.name, scope=body.scope, directory=body.directory, **more)
        return (await house.perform(command, asked.caller)).data

    return act


async def marketplaces(house: House, asked: Asked[NoQuery, NoBody]) -> Page:
    reply = await house.perform(c.ListMarketplaces(), asked.caller)
    return Page(data=reply.data["marketplaces"])


async def add_marketplace(house: House, asked: Asked[NoQuery, NewMarketplace]) -> Any:
    command = c.AddMarketplace(source=asked.body.url)
    return (await house.perform(command, asked.caller)).data


async def remove_marketplace(house: House, asked: Asked[NoQuery, NoBody]) -> Any:
    command = c.RemoveMarketplace(name=asked.id, confirmed=True)
    return (await house.perform(command, asked.caller)).data


async def servers(house: House, asked: Asked[Where, NoBody]) -> Page:
    command = c.ListMcpServers(directory=asked.query.directory)
    return Page(data=(await house.perform(command, asked.caller)).data["servers"])


async def add_server(house: House, asked: Asked[NoQuery, NewServer]) -> Any:
    body, config = asked.body, asked.body.config
    command = c.AddMcpServer(
        server=body.name,
        transport=body.transport,
        command=config.command,
        arguments=config.args,
        url=config.url,
        env=config.env,
        headers=config.headers,
        scope=body.scope,
        directory=body.directory,
    )
    return (await house.perform(command, asked.caller)).data


async def server(house: House, asked: Asked[Where, NoBody]) -> Any:
    command = c.McpServerStatus(server=asked.id, directory=asked.query.directory)
    return (await house.perform(command, asked.caller)).data["server"]


async def remove_server(house: House, asked: Asked[Removal, NoBody]) -> Any:
    query = asked.query
    command = c.RemoveMcpServer(
        server=asked.id, scope=query.scope, directory=query.directory, confirmed=True
    )
    return (await house.perform(command, asked.caller)).data


async def log_in(house: House, asked: Asked[NoQuery, Login]) -> Any:
    body = asked.body
    command = c.AuthMcpServer(server=asked.id, directory=body.directory, answer=body.answer)
    return (await house.perform(command, asked.caller)).data


REFUSALS = (INVALID, FORBIDDEN, NOT_FOUND, CONFLICT)


def _listing(path: str, summary: str, act: Any, query: Any, result: Any) -> Operation[Any, Any]:
    return Operation(
        method="GET",
        path=path,
        summary=summary,
        act=act,
        query=query,
        body=NoBody,
        result=result,
        many=True,
        refusals=REFUSALS,
    )


def _doing(
    path: str, summary: str, act: Any, body: Any, result: Any = Done, status: int = 200
) -> Operation[Any, Any]:
    return Operation(
        method="POST",
        path=path,
        summary=summary,
        act=act,
        query=NoQuery,
        body=body,
        result=result,
        status=status,
        refusals=REFUSALS,
    )


def _removing(path: str, summary: str, act: Any, query: Any) -> Operation[Any, Any]:
    return Operation(
        method="DELETE",
        path=path,
        summary=summary,
        act=act,
        query=query,
        body=NoBody,
        result=Done,
        refusals=REFUSALS,
    )


CHANGES: tuple[tuple[str, str, Change], ...] = (
    ("update", "Update a plugin.", _change(c.UpdatePlugin)),
    ("uninstall", "Remove a plugin.", _change(c.UninstallPlugin, confirmed=True)),
    ("enable", "Let a plugin take part.", _change(c.EnablePlugin)),
    ("disable", "Let a plugin take no part.", _change(c.DisablePlugin)),
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _listing("/plugins/installed", "Claude Code's plugins.", plugins, Where, PluginResource),
    _listing("/plugins/available", "What could be installed.", available, Where, OfferedResource),
    _doing("/plugins/install", "Install a plugin, as plugin@marketplace.", install, NewPlugin),
    *(_doing(f"/plugins/{verb}", told, act, NamedPlugin) for verb, told, act in CHANGES),
    _listing(
        "/plugins/marketplaces",
        "Where plugins come from.",
        marketplaces,
        NoQuery,
        MarketplaceResource,
    ),
    _doing(
        "/plugins/marketplaces/add",
        "Add a marketplace: a directory, a repository or an address.",
        add_marketplace,
        NewMarketplace,
        status=201,
    ),
    _removing(
        "/plugins/marketplaces/{name}",
        "Remove a marketplace, and the plugins that came from it.",
        remove_marketplace,
        NoQuery,
    ),
    _listing(
        "/mcp/servers", "Claude Code's MCP servers, each tried.", servers, Where, ServerResource
    ),
    _doing("/mcp/servers", "Add an MCP server.", add_server, NewServer, status=201),
    Operation(
        method="GET",
        path="/mcp/servers/{name}",
        summary="One MCP server, tried, with the names of what is set for it.",
        act=server,
        query=Where,
        body=NoBody,
        result=ServerResource,
        refusals=REFUSALS,
    ),
    _removing("/mcp/servers/{name}", "Remove an MCP server.", remove_server, Removal),
    _doing(
        "/mcp/servers/{name}/auth",
        "Log in to an MCP server: gives the address to open; then, with the answer, ends it.",
        log_in,
        Login,
        LoginResource,
    ),
)
