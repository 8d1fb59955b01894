"""What stands in `$'…'`: C-like escapes, as bash and zsh read them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|x\{([0-9A-Fa-f]+)\}?|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})"
    r"|([0-7]{1,3})|c?(.))",
    re.S,
)
_LETTERS = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b",
    "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
}  # fmt: skip


def unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    *hexadecimal, octal, letter = match.groups()
    for digits in hexadecimal:
        if digits is not None:
            return chr(min(int(digits, 16), 0x10FFFF))
    if octal is not None:
        return chr(int(octal, 8) & 0xFF)
    return _LETTERS.get(letter, letter)
