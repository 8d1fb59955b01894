"""Where the daemon is, and what opens its door."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from claude_sessions.client.exits import Exit, Failed
from claude_sessions.places import ADDRESS, home_path, typed
from claude_sessions.token_file import FILE, read_token

URL = "CLAUDE_SESSIONS_URL"
TOKEN = "CLAUDE_SESSIONS_TOKEN"  # the name of a variable
START = "Start it: claude-sessions run"
PATH = re.compile(r"[!-~]*")  # what else there is has to be written as %20
REFUSED = ("INVALID_TOKEN", "TOKEN_EXPIRED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What was said on the command line; the rest is found."""

    url: str | None = None
    token_file: Path | None = None
    home: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    url: str  # without a slash at its end
    token: str
    source: str  # of the token

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.url)

    @property
    def socket(self) -> str:
        return "ws" + self.url.removeprefix("http")

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def refused(self, code: str, message: str) -> Failed:
        """The daemon does not know where a token comes from that it does not take."""
        said = f"{message}: the one in {self.source}" if code in REFUSED else message
        return Failed.told(code, said)


def locate(given: Given, environ: Mapping[str, str]) -> Address:
    """Looked up each time: a daemon that starts anew may have another port."""
    home = home_path(given.home)
    elsewhere = given.url or environ.get(URL)
    url = _checked(elsewhere or _written(home))
    token, source = _token(given, environ, home, url, own=not elsewhere)
    return Address(url=url, token=token, source=source)


def _written(home: Path) -> str:
    try:
        return (home / ADDRESS).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        said = f"No daemon runs on {home}, or its gateway is off. {START}"
        raise Failed(said, Exit.AWAY) from None
    except (OSError, UnicodeDecodeError) as error:
        raise Failed(f"{home / ADDRESS} cannot be read: {error}.", Exit.AWAY) from error


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        fine = known and PATH.fullmatch(parts.path)
    except ValueError:  # the port is no number
        fine = None
    if not fine:
        raise Failed(f"{url!r} is no address: write it like http://127.0.0.1:42069", Exit.USAGE)
    return url.rstrip("/")


def _token(
    given: Given, environ: Mapping[str, str], home: Path, url: str, *, own: bool
) -> tuple[str, str]:
    """And where it is from. `own`: the daemon itself says in the home that it is there."""
    if given.token_file is not None:
        file = typed("--token-file", given.token_file)
        return read_token(file, named="--token-file"), str(file)
    if token := environ.get(TOKEN, "").strip():
        return _fitting(token), TOKEN
    if not own and not is_here(url):
        said = f"The token of this machine's own daemon is not sent to {url}."
        raise Failed(f"{said} Give one with --token-file or {TOKEN}.", Exit.UNAUTHORISED)
    if not (home / FILE).exists():
        said = f"There is no token: {home / FILE} does not exist."
        raise Failed(f"{said} Give one with --token-file or {TOKEN}.", Exit.UNAUTHORISED)
    return read_token(home / FILE), str(home / FILE)


def _fitting(token: str) -> str:
    """What cannot stand in a header is not quoted in an error either."""
    if token.isascii() and token.isprintable():
        return token
    raise Failed(f"{TOKEN} holds no token: there are strange characters in it.", Exit.UNAUTHORISED)


def is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
