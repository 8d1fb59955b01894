"""What must not be said again: values of headers and variables, passwords in addresses, keys.

People may see that something is set, and under which name; never what to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from claude_sessions.logs import SECRET_KEYS, SECRET_VALUES, STRUCK

# As a word of its own, or behind - _ and in front of them: API_KEY, --auth-token, x-key.
_TELLING = rf"(?:{SECRET_KEYS.pattern}|(?<![a-z])key(?![a-z])|(?<![a-z])auth(?![a-z]))"
_NAME = rf"[\w.-]{{0,60}}{_TELLING}[\w.-]{{0,60}}"
_GIVEN = re.compile(
    rf"""(?<![\w.-])(?P<name>["']?{_NAME}["']?\s{{0,9}}[:=]\s{{0,9}}|--?{_NAME}\s{{1,9}})"""
    rf"""(?!{re.escape(STRUCK)})"""
    r"""(?P<value>"[^"\n]*"|'[^'\n]*'|(?:basic|digest|bearer)\s+\S+|[^\s"',;&]+)""",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>]+", re.IGNORECASE)
_QUERY = re.compile(r"(?<==)[^&#\s]+")
_TOKEN_LIKE = re.compile(r"(?<=/)(?=[^/?#]*\d)[A-Za-z0-9_~.-]{24,}(?=[/?#]|\Z)")
SHORT = 4  # a value with fewer characters is only found as a word of its own


def struck(text: str, known: Iterable[str] = ()) -> str:
    """`known`: secrets that were given, wherever they turn up."""
    text = without(text, known)
    text = _ADDRESS.sub(lambda match: address(match[0]), text)
    text = _GIVEN.sub(lambda match: match["name"] + STRUCK, text)
    return SECRET_VALUES.sub(STRUCK, text)


def without(text: str, known: Iterable[str]) -> str:
    """Whoever cuts a text does this first: half a secret is no longer found."""
    for secret in sorted({part for one in known for part in _parts(one)}, key=len, reverse=True):
        text = _literally(secret).sub(STRUCK, text)
    return text


def address(url: str) -> str:
    """With its host and path, but for what looks like a key in them."""
    head, mark, rest = url.partition("://")
    place, at, _ = (rest[: _end_of_host(rest)]).rpartition("@")
    if at:
        rest = STRUCK + "@" + rest[len(place) + 1 :]
    path, asks, query = rest.partition("?")
    path = _TOKEN_LIKE.sub(STRUCK, path)
    return head + mark + path + asks + _QUERY.sub(STRUCK, query)


def in_address(url: str) -> tuple[str, ...]:
    """What `address` strikes out of it."""
    try:
        parts = urlsplit(url)
        host = [parts.username, parts.password]
    except ValueError:
        return ()
    found = [*host, *_QUERY.findall(parts.query), *_TOKEN_LIKE.findall(parts.path)]
    return tuple(one for one in found if one)


def names_only(values: Mapping[str, str]) -> dict[str, str]:
    return dict.fromkeys(values, STRUCK)


def _end_of_host(rest: str) -> int:
    found = re.search(r"[/?#]", rest)
    return found.start() if found else len(rest)


def _parts(secret: str) -> Iterable[str]:
    """`Bearer abc`: also the part that is secret, by itself; a key of many lines: each of them.

    Each also as JSON writes it, which is how the claude program tells of headers.
    """
    words = secret.split()
    parts = [secret, *(word for word in words if len(words) > 1 and len(word) > SHORT)]
    for part in parts:
        yield part
        yield json.dumps(part, ensure_ascii=False)[1:-1]


def _literally(secret: str) -> re.Pattern[str]:
    if not secret:
        return re.compile(r"(?!)")
    return re.compile(
        re.escape(secret) if len(secret) >= SHORT else rf"(?<!\w){re.escape(secret)}(?!\w)"
    )
