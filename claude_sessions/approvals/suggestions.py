"""Rules worth offering: from the call itself, and from what the CLI suggests."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from claude_sessions.approvals.calls import (
    COMMAND_TOOLS,
    EDIT_TOOLS,
    PATH_TOOLS,
    SEARCH_TOOLS,
    ToolCall,
    text_of,
)
from claude_sessions.approvals.matching import allows, plain_host
from claude_sessions.approvals.paths import absolute, escaped, is_inside
from claude_sessions.approvals.patterns import RuleError, format_rule, parse_rule
from claude_sessions.approvals.wildcards import literal
from claude_sessions.model import PermissionMode, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """The CLI's suggestions in our words. A mode is kept apart: it alone is ever sent back."""

    rules: tuple[str, ...] = ()
    mode: PermissionMode | None = None
    passed_over: tuple[Mapping[str, Any], ...] = ()


def suggest(request: ToolCall) -> str | None:
    """The rule that would have allowed this call, or None if no rule should."""
    try:
        rule = format_rule(*_narrowest(request))
        tool, pattern = parse_rule(rule, verdict=Verdict.ALLOW)
    except RuleError:
        return None
    return rule if allows(tool, pattern, request) else None


def _narrowest(request: ToolCall) -> tuple[str, str | None]:
    name = request.tool_name
    if name in COMMAND_TOOLS:
        return name, literal(request.command.strip(" \t\n"))
    if name in PATH_TOOLS:
        if not request.paths:
            raise RuleError(f"{name} names no file.")
        pattern = _pattern_of(request.paths[0], request)
        tool = "Edit" if name in EDIT_TOOLS else "Read"
        return tool, f"{pattern}/**" if name in SEARCH_TOOLS else pattern
    if name == "WebFetch":
        return name, f"domain:{plain_host(text_of(request.input, 'url'))}"
    return name, None


def _pattern_of(path: str, request: ToolCall) -> str:
    directory = absolute(request.directory, "/", request.home)
    project = absolute(request.project_directory, "/", request.home)
    # In a part of the project the same relative path would name another file elsewhere in it.
    if directory == project and is_inside(path, directory):
        relative = escaped(posixpath.relpath(path, directory))
        plain = relative == "." or ("/" in relative and relative[0] not in "~!")
        return relative if plain else f"./{relative}"
    if is_inside(path, request.home):
        return "~/" + escaped(posixpath.relpath(path, request.home))
    return "/" + escaped(path)


def from_suggestions(suggestions: Iterable[Mapping[str, Any]]) -> Suggested:
    """What is not understood is passed over, never an error: it is the CLI's to change."""
    rules: list[str] = []
    passed_over: list[Mapping[str, Any]] = []
    mode: PermissionMode | None = None
    for suggestion in suggestions:
        wanted = text_of(suggestion, "mode")
        if suggestion.get("type") == "setMode" and wanted in set(PermissionMode):
            mode = PermissionMode(wanted)
        elif found := list(_rules_in(suggestion)):
            rules += [rule for rule in found if rule not in rules]
        else:
            passed_over.append(suggestion)
    return Suggested(rules=tuple(rules), mode=mode, passed_over=tuple(passed_over))


def _rules_in(suggestion: Mapping[str, Any]) -> Iterator[str]:
    match suggestion:
        case {"type": "addRules", "behavior": "allow", "rules": [*values]}:
            for value in values:
                if isinstance(value, Mapping):
                    yield from _translated(text_of(value, "toolName"), value.get("ruleContent"))
        case {"type": "addDirectories", "directories": [*values]}:
            for value in values:
                if isinstance(value, str) and re.match(r"~?/+[^/]", value):
                    root = escaped(value.rstrip("/"))
                    below = f"{root}/**" if root.startswith("~") else f"/{root}/**"
                    yield from _translated("Read", below)
                    yield from _translated("Edit", below)


def _translated(tool: str, content: object) -> Iterator[str]:
    if not isinstance(content, str):
        content = None
    elif tool in PATH_TOOLS and content.startswith("/") and not content.startswith("//"):
        content = f".{content}"  # the CLI counts these from where its settings lie
    try:
        rule = format_rule(*parse_rule(format_rule(tool, content), verdict=Verdict.ALLOW))
    except RuleError:
        return
    yield rule
