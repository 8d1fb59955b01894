"""Claude Code's own plugins and MCP servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from claude_sessions.commands.wanted.base import Command
from claude_sessions.model import ConfigScope, Role, Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlugins(Command):
    """Those that are installed. `directory`: as they stand there; None: everywhere."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see plugins"
    directory: str | None = None
    available: bool = False  # also what could be installed


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMarketplaces(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see plugins"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePlugin(Command):
    """What is done to one plugin. `scope`: in which of Claude's settings; None: as Claude means."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change plugins"
    plugin: str  # name@marketplace, or its name alone
    scope: ConfigScope | None = None
    directory: str | None = None  # whose settings, for project and local


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlugin(ChangePlugin):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlugin(ChangePlugin):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class UninstallPlugin(ChangePlugin):
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EnablePlugin(ChangePlugin):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablePlugin(ChangePlugin):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMarketplace(Command):
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change plugins"
    source: str = field(repr=False)  # owner/repo, an address, or a directory


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMarketplace(Command):
    """With the plugins that came from it."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change plugins"
    name: str
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMcpServers(Command):
    """Each is tried. `directory`: with those of its own, if it is trusted; None: everywhere."""

    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see MCP servers"
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerStatus(Command):
    ROLE: ClassVar[Role] = Role.VIEWER
    TO: ClassVar[str] = "see MCP servers"
    server: str
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMcpServer(Command):
    """`command` and `arguments` for stdio, else `url`. No scope: user, or local to a directory."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change MCP servers"
    server: str
    transport: Transport = Transport.STDIO
    command: str = ""
    arguments: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    scope: ConfigScope | None = None
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMcpServer(Command):
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change MCP servers"
    server: str
    scope: ConfigScope | None = None  # None: whichever has it
    directory: str | None = None
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthMcpServer(Command):
    """Log in to a server. `answer`: the address that the browser was sent to in the end."""

    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "change MCP servers"
    server: str
    directory: str | None = None
    answer: str | None = field(default=None, repr=False)
