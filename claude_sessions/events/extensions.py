"""What people change about Claude's plugins and MCP servers. Never what is set in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from claude_sessions.events.base import Payload
from claude_sessions.model import ConfigScope, Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInstalled(Payload):
    TYPE: ClassVar[str] = "plugin.installed"
    name: str  # name@marketplace
    version: str = ""
    scope: ConfigScope | None = None
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginUpdated(Payload):
    TYPE: ClassVar[str] = "plugin.updated"
    name: str
    version: str = ""
    scope: ConfigScope | None = None
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginUninstalled(Payload):
    TYPE: ClassVar[str] = "plugin.uninstalled"
    name: str
    scope: ConfigScope | None = None
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSwitched(Payload):
    TYPE: ClassVar[str] = "plugin.switched"
    name: str
    enabled: bool
    scope: ConfigScope | None = None
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketplaceAdded(Payload):
    TYPE: ClassVar[str] = "marketplace.added"
    source: str  # without a password
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketplaceRemoved(Payload):
    TYPE: ClassVar[str] = "marketplace.removed"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerAdded(Payload):
    TYPE: ClassVar[str] = "mcp.added"
    server_name: str
    transport: Transport
    scope: ConfigScope
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerRemoved(Payload):
    TYPE: ClassVar[str] = "mcp.removed"
    server_name: str
    scope: ConfigScope | None = None
    directory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerAuthenticated(Payload):
    """Somebody has logged in to it."""

    TYPE: ClassVar[str] = "mcp.authenticated"
    server_name: str
    directory: str | None = None
