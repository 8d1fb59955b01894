"""The pattern language of rules, as Claude Code writes it.

    Bash(npm test)             this command; no other
    Bash(npm run *)            `npm run` and whatever follows; `Bash(npm run:*)` is the same
    Bash(git * main)           `*` stands for anything; `\\*` for a star
    Edit(src/**)  Read(~/x/*)  gitignore-like, from the directory; `~/`, `/` and `//` as they look
    WebFetch(domain:a.com)     this host; `domain:*.a.com` its sub-domains
    mcp__server__tool          one tool; `mcp__server` or `mcp__server__*` all of a server
    Tool                       any input

`Edit` speaks for every tool that edits files and `Read` for every tool that reads them. A pattern
for a path does not look into Bash commands.
"""

from __future__ import annotations

import re

from claude_sessions.approvals.calls import COMMAND_TOOLS, PATH_TOOLS, PEOPLE_TOOLS
from claude_sessions.approvals.commands import started
from claude_sessions.approvals.paths import covers
from claude_sessions.approvals.wildcards import readings
from claude_sessions.errors import BadRequest
from claude_sessions.model import Verdict

Pattern = tuple[str, str | None]

NAMED_TOOLS = {
    "Skill": ("skill", "command"),
    "Task": ("subagent_type",),
    "Agent": ("subagent_type",),
}

_TOOL = re.compile(r"[A-Za-z][\w.:-]*")
_DOMAIN = re.compile(
    r"domain:(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
)


class RuleError(BadRequest, ValueError):
    """A rule that cannot be; the text says what to write instead."""


def parse_rule(text: str, *, verdict: Verdict | None = None) -> Pattern:
    """`Bash(npm test)` as `("Bash", "npm test")`; a bare tool, and `Tool(*)`, has no pattern.

    With a verdict, also what makes no sense for it is refused, as `Rule` itself would.
    """
    text = text.strip()
    if "(" not in text:
        tool, pattern = text, None
    elif text.endswith(")"):
        tool, _, content = text.partition("(")
        pattern = _unescaped(content[:-1]).strip()
        if not pattern:
            raise RuleError(f"“{text}” has nothing in its brackets. Write {tool} for any input.")
    else:
        raise RuleError(f"“{text}” lacks its closing bracket. Write for example Bash(npm test).")
    pattern = None if pattern == "*" else pattern
    check_rule(tool, pattern, verdict)
    return tool, pattern


def format_rule(tool: str, pattern: str | None) -> str:
    if pattern is None:
        return tool
    marked = re.sub(r"([\\()])", r"\\\1", pattern)
    return f"{tool}({marked})"


def check_rule(tool: str, pattern: str | None, verdict: Verdict | None) -> None:
    """Raises a RuleError that says what to write instead."""
    _check_tool(tool, verdict)
    if pattern is None:
        return
    empty = pattern in ("", "*") if tool in PATH_TOOLS else not pattern.strip("*: ")
    if empty or pattern != pattern.strip():
        raise RuleError(f"{tool}({pattern}) says too little. Write {tool} alone for any input.")
    if tool in COMMAND_TOOLS:
        _check_command(tool, pattern, verdict)
    elif tool in PATH_TOOLS:
        _check_path(tool, pattern)
    elif tool == "WebFetch":
        if not _DOMAIN.fullmatch(pattern):
            raise RuleError(
                f"WebFetch({pattern}) names no host. Write WebFetch(domain:example.com), or "
                "WebFetch(domain:*.example.com) for its sub-domains."
            )
    elif tool not in NAMED_TOOLS:
        raise RuleError(f"{tool} takes no pattern. Write {tool} for any input.")


def _check_tool(tool: str, verdict: Verdict | None) -> None:
    if verdict is Verdict.ALLOW and tool in PEOPLE_TOOLS:
        raise RuleError(f"{tool} is a question for a person: no rule can answer it.")
    if tool == "*" or tool in ("mcp__*", "mcp__"):
        if verdict is Verdict.ALLOW:
            raise RuleError(
                f"“{tool}” would allow everything. Name a tool, for example Bash(npm test), "
                "or use the mode bypassPermissions."
            )
    elif not _TOOL.fullmatch(tool.removesuffix("__*") if tool.startswith("mcp__") else tool):
        raise RuleError(
            f"“{tool}” is no tool. Write for example Bash(npm test), Edit(src/**) or mcp__server."
        )


def _check_command(tool: str, pattern: str, verdict: Verdict | None) -> None:
    examples = ("x".join(pieces) for pieces in readings(pattern))
    if verdict is Verdict.ALLOW and not all(started(example).plain for example in examples):
        raise RuleError(
            f"{tool}({pattern}) can never match: a pattern allows one plain command, without "
            "; && | & > $( ) and the like. Allow its parts one by one."
        )


def _check_path(tool: str, pattern: str) -> None:
    if pattern.startswith("!"):
        raise RuleError(
            f"{tool}({pattern}): “!” is not understood here. Write a deny rule instead."
        )
    if ".." in re.sub(r"^(\.\./)+", "", pattern).split("/") and pattern != "..":
        raise RuleError(f"{tool}({pattern}): “..” may stand only at the start of a path.")
    try:
        covers(pattern, "/", directory="/", home="/")
    except re.error as problem:
        raise RuleError(f"{tool}({pattern}) cannot be read: {problem.msg}.") from None


def _unescaped(content: str) -> str:
    return re.sub(r"\\([\\()])", r"\1", content)
