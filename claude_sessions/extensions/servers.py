"""What `claude mcp list` and `claude mcp get` say: text for people, read leniently."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from claude_sessions.extensions.secrets import address, struck
from claude_sessions.logs import STRUCK
from claude_sessions.model import Transport

# `name: what it runs - ✔ Connected`; without a terminal's fonts the marks are plainer.
STANDS = re.compile(r" - (?=[✔✓√✘✗×⏸!] |- Not configured)")
KIND = re.compile(r" \((HTTP|SSE|WS)\)\Z")
GOOD, BAD = "✔✓√", "✘✗×"
NEEDS_LOGIN = "Needs authentication"


class Standing(StrEnum):
    """In the seed's words."""

    RUNNING = "running"
    STOPPED = "stopped"  # waits for somebody: to approve it, to log in, to configure it
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    name: str
    transport: Transport
    standing: Standing
    problem: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)  # secrets struck out

    @property
    def needs_login(self) -> bool:
        return self.problem.startswith(NEEDS_LOGIN)

    @property
    def reached_by(self) -> str:
        """Its command or its address."""
        words = [self.config.get("command"), *self.config.get("args", ())]
        return str(self.config.get("url") or " ".join(str(word) for word in words if word))

    def data(self) -> dict[str, Any]:
        """The seed's McpServerInfo."""
        problem = {"lastError": self.problem} if self.problem else {}
        return {
            "name": self.name,
            "transport": self.transport.value,
            "status": self.standing.value,
            **problem,
            "config": dict(self.config),
        }


def read_list(text: str) -> tuple[Server, ...]:
    return tuple(found for line in text.splitlines() if (found := _line(line)) is not None)


def _line(line: str) -> Server | None:
    name, colon, rest = line.partition(": ")
    stands = STANDS.search(rest)
    if not colon or not name.strip() or name != name.strip() or stands is None:
        return None
    standing, problem = _standing(rest[stands.end() :])
    what, kind = rest[: stands.start()], KIND.search(rest[: stands.start()])
    if kind is not None:
        transport, what = _transport(kind[1]), what[: kind.start()]
    else:  # of claude.ai's own it does not say the kind
        is_address = what.startswith(("http://", "https://"))
        transport = Transport.HTTP if is_address else Transport.STDIO
    config = _command(what) if transport is Transport.STDIO else {"url": address(what)}
    return Server(name=name, transport=transport, standing=standing, problem=problem, config=config)


def read_one(text: str) -> Server | None:
    """None: there is no server in it."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if _is_head(line)), None)
    if head is None:
        return None
    facts, headers, variables = _facts(lines[head + 1 :])
    transport = _transport(facts.get("Type", ""))
    standing, problem = _standing(facts.get("Status", ""))
    if issue := facts.get("Issue"):
        problem = struck(issue)
    config: dict[str, Any] = {"scope": facts.get("Scope", "").partition(" ")[0].lower()}
    if transport is Transport.STDIO:
        config |= _command(f"{facts.get('Command', '')} {facts.get('Args', '')}".strip())
        config["env"] = dict.fromkeys(variables, STRUCK)
    else:
        config |= {"url": address(facts.get("URL", "")), "headers": dict.fromkeys(headers, STRUCK)}
    name = lines[head].rstrip()[:-1]
    return Server(name=name, transport=transport, standing=standing, problem=problem, config=config)


def _is_head(line: str) -> bool:
    return bool(line.strip(": ")) and not line[0].isspace() and line.rstrip().endswith(":")


def _facts(lines: list[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """What stands two spaces in, and the names of what stands four in below it."""
    facts: dict[str, str] = {}
    below: dict[str, list[str]] = {"Headers": [], "Environment": []}
    section = ""
    for line in lines:
        if line.startswith("    "):
            sign = "=" if section == "Environment" else ":"
            name, found, _ = line.strip().partition(sign)
            if section in below and found and name:
                below[section].append(name)
        elif line.startswith("  "):
            section, _, value = line.strip().partition(":")
            facts.setdefault(section, value.strip())
        else:  # a value of several lines goes on here: nobody is shown it
            section = ""
    return facts, below["Headers"], below["Environment"]


def _standing(text: str) -> tuple[Standing, str]:
    mark, words = text[:1], text[1:].strip()
    if mark and mark in GOOD:
        return Standing.RUNNING, ""
    if words.startswith("Connected"):  # though not all of it works
        return Standing.RUNNING, struck(words)
    if mark and mark in BAD:
        what, _, why = words.partition(" — ")
        return Standing.ERROR, struck(why or what)
    return Standing.STOPPED, struck(words)


def _transport(word: str) -> Transport:
    """Others than the seed's three are nearest to http."""
    known = {"stdio": Transport.STDIO, "": Transport.STDIO, "sse": Transport.SSE}
    return known.get(word.strip().lower(), Transport.HTTP)


def _command(line: str) -> dict[str, Any]:
    """The CLI does not say where one argument ends, so every space counts; it ends with one."""
    told = struck(line).removesuffix(" ").replace(STRUCK, "\0")
    command, *arguments = told.split(" ")
    return {
        "command": command.replace("\0", STRUCK),
        "args": [each.replace("\0", STRUCK) for each in arguments],
    }
