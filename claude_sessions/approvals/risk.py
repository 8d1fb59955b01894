"""How much a call could cost, and why, in words a person understands.

Commands are high, writing files medium, the rest low; then the input speaks. A level is advice for
people, never a permission.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from claude_sessions.approvals.calls import (
    COMMAND_TOOLS,
    EDIT_TOOLS,
    MCP_TOOL,
    READ_TOOLS,
    paths_of,
    text_of,
)
from claude_sessions.approvals.dangers import Danger, dangers
from claude_sessions.approvals.guarded import why_guarded, why_secret
from claude_sessions.approvals.paths import absolute, home_directory, is_inside, shown
from claude_sessions.approvals.readonly import only_reads
from claude_sessions.approvals.visible import has_hidden, one_line
from claude_sessions.model import Risk

MOST_REASONS = 8

_LEVELS = (Risk.LOW, Risk.MEDIUM, Risk.HIGH)
_CODE_TOOLS = COMMAND_TOOLS | {"PowerShell", "REPL"}
_RUNNING = frozenset({
    "exec", "execute", "run", "shell", "bash", "command", "eval", "evaluate", "delete", "remove",
    "drop", "destroy", "kill", "deploy", "purge", "terminate",
})  # fmt: skip
_CHANGING = frozenset({
    "write", "edit", "create", "update", "insert", "set", "send", "post", "publish", "push", "move",
    "merge", "add", "put", "upload", "rename", "comment", "close", "cancel", "approve",
})  # fmt: skip
_LOCAL_HOST = re.compile(
    r"localhost|.*\.local|.*\.internal|127\..*|10\..*|192\.168\..*|169\.254\..*"
    r"|172\.(1[6-9]|2\d|3[01])\..*|0\.0\.0\.0|\[?::1?\]?|f[cd][0-9a-f]{2}:.*|\d+|0x.*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    risk: Risk
    reasons: tuple[str, ...]


def assess(
    tool_name: str, input: Mapping[str, Any], directory: str, *, home: str | None = None
) -> Assessment:
    home = home_directory() if home is None else home
    base = absolute(directory, "/", home)
    found = list(_found(tool_name, input, base, home))
    if any(has_hidden(value) for value in input.values() if isinstance(value, str)):
        found.append(Danger(risk=Risk.MEDIUM, reason="holds characters that cannot be seen"))
    risk = max((danger.risk for danger in found), key=_LEVELS.index, default=Risk.LOW)
    worst_first = sorted(found, key=lambda danger: -_LEVELS.index(danger.risk))
    reasons = list(dict.fromkeys(danger.reason for danger in worst_first))
    if len(reasons) > MOST_REASONS:
        reasons[MOST_REASONS:] = [f"and {len(reasons) - MOST_REASONS} more"]
    return Assessment(risk=risk, reasons=tuple(reasons))


def _found(
    tool_name: str, values: Mapping[str, Any], directory: str, home: str
) -> Iterator[Danger]:
    if tool_name in _CODE_TOOLS:
        yield from _of_command(tool_name, values, directory, home)
    elif tool_name in EDIT_TOOLS:
        yield Danger(risk=Risk.MEDIUM, reason="changes a file")
        for path in paths_of(tool_name, values, directory, home):
            yield from _of_write(path, directory, home)
    elif tool_name in READ_TOOLS:
        for path in paths_of(tool_name, values, directory, home):
            yield from _of_read(path, directory, home)
    elif tool_name == "WebFetch":
        yield from _of_address(text_of(values, "url"))
    elif match := MCP_TOOL.fullmatch(tool_name):
        yield from _of_mcp(match["server"], match["tool"])


def _of_command(
    tool_name: str, values: Mapping[str, Any], directory: str, home: str
) -> Iterator[Danger]:
    command = text_of(values, "command")
    if tool_name in COMMAND_TOOLS and only_reads(command):
        yield Danger(risk=Risk.LOW, reason="only reads")
    else:
        yield Danger(risk=Risk.HIGH, reason="runs a command")
    if values.get("dangerouslyDisableSandbox"):
        yield Danger(risk=Risk.HIGH, reason="runs outside the sandbox")
    yield from dangers(command, directory, home)


def _of_write(path: str, directory: str, home: str) -> Iterator[Danger]:
    if why := why_guarded(path, directory, home):
        yield Danger(risk=Risk.HIGH, reason=f"writes to {why}")
    if not is_inside(path, directory):
        where = one_line(shown(path, directory, home), 60)
        yield Danger(risk=Risk.HIGH, reason=f"writes outside the directory: {where}")


def _of_read(path: str, directory: str, home: str) -> Iterator[Danger]:
    outside = not is_inside(path, directory)
    if why := why_secret(path):
        yield Danger(risk=Risk.HIGH if outside else Risk.MEDIUM, reason=f"reads {why}")
    if outside:
        where = one_line(shown(path, directory, home), 60)
        yield Danger(risk=Risk.MEDIUM, reason=f"reads outside the directory: {where}")


def _of_address(url: str) -> Iterator[Danger]:
    try:
        parts = urlsplit(url)
        host, named = (parts.hostname or "").rstrip("."), parts.username is not None
    except ValueError:
        yield Danger(risk=Risk.MEDIUM, reason="an address that cannot be read")
        return
    if _LOCAL_HOST.fullmatch(host):
        yield Danger(risk=Risk.MEDIUM, reason=f"reaches into the local network: {host}")
    if named or not host.isascii():
        yield Danger(risk=Risk.MEDIUM, reason="an address that may not be what it looks like")
    if len(parts.query) > 200:
        yield Danger(risk=Risk.MEDIUM, reason="sends a long text along in the address")


def _of_mcp(server: str, tool: str) -> Iterator[Danger]:
    verbs = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", tool)}
    server, tool = one_line(server, 40), one_line(tool, 40)
    if verbs & _RUNNING:
        yield Danger(risk=Risk.HIGH, reason=f"{server} may run or delete something ({tool})")
    elif verbs & _CHANGING:
        yield Danger(risk=Risk.MEDIUM, reason=f"{server} may change something ({tool})")
