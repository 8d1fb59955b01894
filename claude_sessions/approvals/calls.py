"""A tool call as rules and policy see it, and which tools are of one kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from claude_sessions.approvals.paths import absolute, home_directory

COMMAND_TOOLS = frozenset({"Bash", "Monitor"})  # both hand `command` to a shell
EDIT_TOOLS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
READ_TOOLS = frozenset({"Read", "NotebookRead", "Glob", "Grep", "LS"})
SEARCH_TOOLS = frozenset({"Glob", "Grep", "LS"})
PATH_TOOLS = EDIT_TOOLS | READ_TOOLS
PEOPLE_TOOLS = frozenset({"AskUserQuestion", "ExitPlanMode"})  # only a person can answer these

MCP_TOOL = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What Claude wants to do.

    `resolved` is where the path really leads (links followed), if somebody looked; then `directory`
    has to be resolved too. An allow needs both readings to match, a deny either.
    """

    tool_name: str
    input: Mapping[str, Any]
    directory: str
    session: str
    project_directory: str
    home: str = field(default_factory=home_directory)
    resolved: str | None = None

    @property
    def command(self) -> str:
        return text_of(self.input, "command")

    @property
    def paths(self) -> tuple[str, ...]:
        found = paths_of(self.tool_name, self.input, self.directory, self.home)
        if found and self.resolved is not None:
            found = (*found, absolute(self.resolved, self.directory, self.home))
        return found


def text_of(values: Mapping[str, Any], *keys: str) -> str:
    """The first of these that holds text, or nothing."""
    for key in keys:
        value = values.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def paths_of(
    tool_name: str, values: Mapping[str, Any], directory: str, home: str
) -> tuple[str, ...]:
    """The absolute paths a file tool names; searching tools name the directory they search.

    A call that names several is judged by all: which one the tool obeys is not ours to guess.
    """
    if tool_name not in PATH_TOOLS:
        return ()
    named = [text_of(values, key) for key in ("file_path", "notebook_path", "path")]
    found = [absolute(path, directory, home) for path in named if path]
    if tool_name in SEARCH_TOOLS:
        found = found or [absolute(directory, "/", home)]
        if tool_name == "Glob" and (start := _fixed_part(text_of(values, "pattern"))):
            found.append(absolute(start, found[-1], home))
    return tuple(found)


def _fixed_part(glob: str) -> str:
    """What stands before the first wildcard; what climbs or jumps later is read as done at once."""
    if re.search(r"[{,]/", glob):
        return "/"
    start = re.split(r"[*?\[{]", glob, maxsplit=1)[0]
    start = start if start == glob else start[: start.rfind("/") + 1]
    return start + "../" * glob[len(start) :].count("..")
