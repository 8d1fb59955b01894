"""What `claude plugin list --json` and `claude plugin marketplace list --json` say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from claude_sessions.extensions.secrets import address

LARGEST_MANIFEST = 1_000_000

# What a plugin may bring, by where it lies in the plugin and its key in the manifest.
BRINGS = {
    "commands": "commands",
    "agents": "agents",
    "skills": "skills",
    "hooks": "hooks",
    ".mcp.json": "mcpServers",
    ".lsp.json": "lspServers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    id: str  # name@marketplace
    version: str
    scope: str
    enabled: bool
    folder: str = ""  # where its files are
    directory: str | None = None  # for which it is installed; None: for all
    brings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.id.partition("@")[0]

    def data(self) -> dict[str, Any]:
        """The seed's PluginInfo. Its name is the one that every command takes."""
        return {
            "name": self.id,
            "version": self.version,
            "enabled": self.enabled,
            "scope": self.scope,
            "capabilities": list(self.brings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    id: str
    description: str

    def data(self) -> dict[str, Any]:
        return {"name": self.id, "description": self.description}


@dataclass(frozen=True, slots=True, kw_only=True)
class Marketplace:
    name: str
    url: str  # or owner/repo, or a directory

    def data(self) -> dict[str, Any]:
        return {"name": self.name, "url": self.url}


def read_plugins(text: str) -> tuple[Plugin, ...] | None:
    """None: that is not what it says when all is well."""
    found = _json(text)
    rows = found.get("installed") if isinstance(found, dict) else found
    return tuple(_plugins(rows)) if isinstance(rows, list) else None


def read_available(text: str) -> tuple[Available, ...] | None:
    found = _json(text)
    rows = found.get("available") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        return None
    return tuple(
        Available(id=_text(row, "pluginId"), description=_text(row, "description"))
        for row in rows
        if isinstance(row, dict) and _text(row, "pluginId")
    )


def read_marketplaces(text: str) -> tuple[Marketplace, ...] | None:
    rows = _json(text)
    if not isinstance(rows, list):
        return None
    return tuple(
        Marketplace(name=_text(row, "name"), url=address(_source(row)))
        for row in rows
        if isinstance(row, dict) and _text(row, "name")
    )


def named(plugins: tuple[Plugin, ...], ref: str) -> Plugin | None:
    """By name@marketplace, else by its name alone; one that is enabled first."""
    ordered = sorted(plugins, key=lambda plugin: not plugin.enabled)
    exact = (plugin for plugin in ordered if plugin.id == ref)
    return next(exact, next((plugin for plugin in ordered if plugin.name == ref), None))


def with_contents(plugin: Plugin) -> Plugin:
    """Looks into its folder."""
    if not plugin.folder:
        return plugin
    folder, manifest = Path(plugin.folder), _manifest(Path(plugin.folder))
    brings = (key for place, key in BRINGS.items() if manifest.get(key) or _exists(folder / place))
    return replace(plugin, brings=tuple(brings))


def _plugins(rows: list[Any]) -> Iterator[Plugin]:
    for row in rows:
        if isinstance(row, dict) and _text(row, "id"):
            yield Plugin(
                id=_text(row, "id"),
                version=_text(row, "version") or "unknown",
                scope=_text(row, "scope") or "user",
                enabled=row.get("enabled") is True,
                folder=_text(row, "readFromFolder") or _text(row, "installPath"),
                directory=_text(row, "projectPath") or None,
            )


def _source(row: Mapping[str, Any]) -> str:
    return next(
        (value for key in ("url", "repo", "path", "source") if (value := _text(row, key))), ""
    )


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _manifest(folder: Path) -> Mapping[str, Any]:
    path = folder / ".claude-plugin" / "plugin.json"
    try:
        if not path.is_file():  # a pipe would never end
            return {}
        with path.open("rb") as file:
            found = orjson.loads(file.read(LARGEST_MANIFEST))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
