"""Whether a pattern speaks about a tool call.

Allow and deny lean opposite ways. An allow matches only what is certainly meant: one plain command
as written, every path, a host that can be read in one way. A deny matches whatever might be meant:
any command within a compound, quoted or wrapped as it may be, any path, upper or lower case, and
text that only the shell will know counts as anything.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from urllib.parse import urlsplit

from claude_sessions.approvals.calls import (
    COMMAND_TOOLS,
    EDIT_TOOLS,
    PATH_TOOLS,
    PEOPLE_TOOLS,
    READ_TOOLS,
    SEARCH_TOOLS,
    ToolCall,
    text_of,
)
from claude_sessions.approvals.commands import program, started
from claude_sessions.approvals.guarded import why_guarded
from claude_sessions.approvals.overlap import overlap
from claude_sessions.approvals.paths import absolute, covers, is_inside, literal_root
from claude_sessions.approvals.patterns import NAMED_TOOLS
from claude_sessions.approvals.script import ANY, UNKNOWN, Simple
from claude_sessions.approvals.wildcards import fits, readings

FAMILIES = (
    ("Bash", COMMAND_TOOLS),
    ("Edit", EDIT_TOOLS),
    ("Read", READ_TOOLS),
    ("Agent", frozenset({"Agent", "Task"})),
    ("Task", frozenset({"Agent", "Task"})),
)


def allows(tool: str, pattern: str | None, call: ToolCall) -> bool:
    if call.tool_name in PEOPLE_TOOLS or not _allow_speaks_for(tool, call.tool_name):
        return False
    if pattern is None:
        return True
    if tool in COMMAND_TOOLS:
        return _allows_command(pattern, call)
    if tool in PATH_TOOLS:
        return bool(call.paths) and all(_allows_path(pattern, path, call) for path in call.paths)
    if tool == "WebFetch":
        return plain_host(text_of(call.input, "url")) in _Domain(pattern)
    return _names(tool, pattern, call)


def denies(tool: str, pattern: str | None, call: ToolCall) -> bool:
    if not _deny_speaks_for(tool, call.tool_name):
        return False
    if pattern is None:
        return True
    if tool in COMMAND_TOOLS:
        return _denies_command(pattern, call.command)
    if tool in PATH_TOOLS:
        return any(_denies_path(pattern, path, call) for path in call.paths)
    if tool == "WebFetch":
        return any(host in _Domain(pattern) for host in _hosts(text_of(call.input, "url")))
    return _names(tool, pattern, call)


def _allow_speaks_for(rule_tool: str, tool_name: str) -> bool:
    if rule_tool == tool_name:
        return rule_tool != "*"
    if rule_tool.startswith("mcp__"):
        server = rule_tool.removesuffix("__*")
        named_whole = server != rule_tool or "__" not in server[5:]
        rest = tool_name.removeprefix(server + "__")
        # Server `a` with tool `b__c` and server `a__b` with tool `c` look alike: not certain.
        return named_whole and len(server) > 5 and rest != tool_name and "__" not in rest
    return any(rule_tool == speaker and tool_name in family for speaker, family in FAMILIES)


def _deny_speaks_for(rule_tool: str, tool_name: str) -> bool:
    if rule_tool in ("*", tool_name):
        return True
    if rule_tool.startswith("mcp__"):
        return tool_name.startswith(rule_tool.removesuffix("*").removesuffix("__") + "__")
    return any(rule_tool in family and tool_name in family for _, family in FAMILIES)


def _allows_command(pattern: str, call: ToolCall) -> bool:
    command = call.command.strip(" \t\n")
    if not started(command).plain or call.input.get("dangerouslyDisableSandbox"):
        return False
    return any(fits(pieces, command) for pieces in readings(pattern))


def _denies_command(pattern: str, command: str) -> bool:
    running = started(command)
    wanted = [[re.sub(r"\s+", " ", piece) for piece in pieces] for pieces in readings(pattern)]
    texts = [command.strip(), *(simple.raw for simple in running.commands)]
    if any(fits(pieces, " ".join(text.split())) for pieces in wanted for text in texts):
        return True
    plain = [[re.sub(r"[\"'\\]", "", piece) for piece in pieces] for pieces in wanted]
    if any(_could_be(pieces, simple) for pieces in plain for simple in running.commands):
        return True
    if any(_same_flags(pattern, simple) for simple in running.commands):
        return True
    return not running.certain and any(_mentions(pieces[0], command) for pieces in plain)


def _could_be(pieces: list[str], simple: Simple) -> bool:
    if not simple.words:
        return False
    name, rest = program(simple), simple.words[1:]
    for first in {simple.words[0], name}:
        text = " ".join((first, *rest))
        if not UNKNOWN.isdisjoint(text):
            # An unquoted variable that is empty takes its blank along.
            text = re.sub(f" ?{ANY}[ {ANY}]*", ANY, text)
            if overlap(ANY.join(pieces), text):
                return True
        elif fits(pieces, " ".join(text.split())):
            return True
    return False


def _same_flags(pattern: str, simple: Simple) -> bool:
    """`rm -rf *` also means `rm -fr x`, `rm -r -f x`, `rm x -rfv`."""
    prefix = re.sub(r"(:| )\*$", "", pattern)
    if "*" in prefix or not simple.words:
        return False
    flags, words = _flags_apart(tuple(prefix.split()))
    given, found = _flags_apart((program(simple), *simple.words[1:]))
    found = found if prefix == pattern else found[: len(words)]
    return bool(flags) and flags <= given and words == found


def _flags_apart(words: tuple[str, ...]) -> tuple[set[str], tuple[str, ...]]:
    flags: set[str] = set()
    for word in words:
        if word.startswith("--"):
            flags.add(word.partition("=")[0])
        elif word.startswith("-"):
            flags |= set(word[1:])
    return flags, tuple(word for word in words if not word.startswith("-"))


def _mentions(start: str, command: str) -> bool:
    """For text that could not be read: the pattern's beginning stands at the start of a word."""
    tokens = re.split(r"[\s;&|(){}<>`$]+", re.sub(r"\\\n|[\"'\\]", "", command))
    names = [posixpath.basename(token) for token in tokens]
    return any(f" {start.strip()}" in " " + " ".join(words) for words in (tokens, names))


def _allows_path(pattern: str, path: str, call: ToolCall) -> bool:
    if call.tool_name in EDIT_TOOLS:
        why = why_guarded(path, call.directory, call.home)
        named = absolute(pattern, call.directory, call.home)
        if why is not None and why != why_guarded(named, call.directory, call.home):
            return False  # `Edit(**)` does not mean git's hooks
    return any(
        covers(pattern, each, directory=call.directory, home=call.home)
        for each in _places(path, call)
    )


def _denies_path(pattern: str, path: str, call: ToolCall) -> bool:
    root = literal_root(pattern, directory=call.directory, home=call.home)
    if call.tool_name == "Grep" and is_inside(root, path):
        return True  # the search would read what the pattern hides
    return any(
        covers(pattern, each, directory=call.directory, home=call.home, fold=True)
        for each in _places(path, call)
    )


def _places(path: str, call: ToolCall) -> tuple[str, ...]:
    """What is searched stands also for whatever may be found there."""
    return (path, f"{path}/\0") if call.tool_name in SEARCH_TOOLS else (path,)


class _Domain:
    def __init__(self, pattern: str) -> None:
        self.name = pattern.removeprefix("domain:").lower()

    def __contains__(self, host: str) -> bool:
        if self.name.startswith("*."):
            return host.endswith(self.name[1:]) and len(host) > len(self.name) - 1
        return bool(host) and host == self.name


_PLAIN_URL = re.compile(r"https?://([a-z0-9.-]+?)\.?(?::\d+)?(?:[/?#][^\s\\]*)?", re.I)


def plain_host(url: str) -> str:
    match = _PLAIN_URL.fullmatch(url)
    return match.group(1).lower() if match and url.isascii() else ""


def _hosts(url: str) -> set[str]:
    """Every host that some reader of this address might see in it."""
    text = unicodedata.normalize("NFKC", re.sub(r"[\x00-\x20\x7f]", "", url)).replace("\\", "/")
    found = {plain_host(url)}
    for candidate in (text, text if "://" in text else f"http://{text.lstrip('/')}"):
        try:
            host = urlsplit(candidate).hostname or ""
            found |= {host, host.encode("idna").decode()}
        except ValueError:
            found |= set(re.findall(r"[a-z0-9.-]+", text.lower()))
    return {host.lower().rstrip(".") for host in found if host}


def _names(tool: str, pattern: str, call: ToolCall) -> bool:
    text = text_of(call.input, *NAMED_TOOLS.get(tool, ()))
    return any(fits(pieces, text) for pieces in readings(pattern))
