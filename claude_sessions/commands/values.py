"""The values of flags: from what was typed to what is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

import orjson

from claude_sessions.commands.lexer import Line, shown
from claude_sessions.model import PermissionMode, Scope

BUDGET = re.compile(r"\$?([0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})\$?")
LINES = re.compile(r"0*([1-9][0-9]{0,5})")
LIFETIME = re.compile(r"0*([1-9][0-9]{0,3})([mhd])", re.IGNORECASE | re.ASCII)
UNITS = {"m": "minutes", "h": "hours", "d": "days"}

Choice = TypeVar("Choice", bound=str)


def pick(line: Line, word: str, choices: Iterable[Choice]) -> Choice:
    """By its name in any case, or by a beginning that only it has."""
    wanted = word.lower()
    known = list(choices)
    exact = [choice for choice in known if choice.lower() == wanted]
    found = exact or [choice for choice in known if choice.lower().startswith(wanted)]
    if len(found) == 1:
        return found[0]
    says = "could be several of" if found else "is none of"
    raise line.error(f"“{shown(word)}” {says}: {', '.join(found or known)}.")


def mode(line: Line) -> PermissionMode | None:
    word = line.value("mode")
    return pick(line, word, PermissionMode) if word else None


def scope(line: Line, default: Scope) -> Scope:
    word = line.value("scope")
    return pick(line, word, Scope) if word else default


def budget(line: Line) -> float | None:
    word = line.value("budget")
    return None if word is None else dollars(line, word)


def dollars(line: Line, word: str) -> float:
    match = BUDGET.fullmatch(word)
    amount = float(match[1]) if match else 0.0
    if amount <= 0:
        raise line.error(f"A budget is a positive number such as 5 or $2.50, not {shown(word)}.")
    return amount


def lines(line: Line, default: int) -> int:
    return _whole(line, "lines") or default


def turn(line: Line) -> int | None:
    return _whole(line, "turn")


def _whole(line: Line, flag: str) -> int | None:
    word = line.value(flag)
    if word is None:
        return None
    match = LINES.fullmatch(word)
    if match is None:
        raise line.error(f"--{flag} takes a whole number from 1, not {shown(word)}.")
    return int(match[1])


def lifetime(line: Line) -> timedelta | None:
    word = line.value("for")
    if word is None:
        return None
    match = LIFETIME.fullmatch(word)
    if match is None:
        raise line.error(f"--for takes a time such as 30m, 2h or 7d, not {shown(word)}.")
    return timedelta(**{UNITS[match[2].lower()]: int(match[1])})


def rules(line: Line) -> tuple[str, ...]:
    """Commas separate rules, but not inside parentheses: `Bash(git a,b),Read` are two."""
    found = [""]
    depth = 0
    for piece in re.split(r"([(),])", ",".join(line.given.get("allow", ()))):
        depth = max(depth + (piece == "(") - (piece == ")"), 0)
        if piece == "," and not depth:
            found.append("")
        else:
            found[-1] += piece
    return tuple(rule.strip() for rule in found if rule.strip())


def edited_input(line: Line) -> Mapping[str, Any] | None:
    text = line.value("input")
    if text is None:
        return None
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError as problem:
        raise line.error(f"--input is not JSON: {problem}.") from None
    if not isinstance(data, dict):
        raise line.error("--input needs one JSON object: {…}.")
    return data


def at_most_one(line: Line, *flags: str) -> None:
    if sum(line.has(flag) for flag in flags) > 1:
        raise line.error(f"Choose one of {', '.join('--' + flag for flag in flags)}.")
