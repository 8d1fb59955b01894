"""A marketplace with one tiny plugin, a tiny MCP server, and programs that are not claude."""

from __future__ import annotations

import json
from pathlib import Path

SERVER = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {"tools": []}
    if asked["method"] == "initialize":
        result = {
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tiny", "version": "1"},
        }
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def marketplace(folder: Path, version: str = "1.0.0") -> Path:
    plugin = folder / "tiny"
    (folder / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / "commands").mkdir()
    (plugin / "commands" / "hi.md").write_text("Say hi.")
    listed = {"name": "tiny", "source": "./tiny", "description": "A tiny one"}
    catalog = {"name": "locmkt", "owner": {"name": "Demo"}, "plugins": [listed]}
    (folder / ".claude-plugin" / "marketplace.json").write_text(json.dumps(catalog))
    manifest = {"name": "tiny", "version": version, "description": "A tiny one"}
    (plugin / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    return folder


def tiny_server(folder: Path) -> Path:
    path = folder / "server.py"
    path.write_text(SERVER)
    return path


def program(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path
