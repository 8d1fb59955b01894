"""What somebody may give the claude program: nothing of it can be taken for an option.

Each function gives its argument back as the program is to have it, or raises BadRequest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from claude_sessions.approvals.visible import one_line
from claude_sessions.errors import BadRequest

PLUGIN = re.compile(r"[A-Za-z0-9][\w.-]{0,99}(@[A-Za-z0-9][\w.-]{0,99})?", re.ASCII)
MARKETPLACE = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)
REPOSITORY = re.compile(
    r"[A-Za-z0-9][\w.-]{0,99}/[A-Za-z0-9_][\w.-]{0,99}(#[\w./-]{1,200})?", re.ASCII
)
GIT_ADDRESS = re.compile(
    r"(https?|ssh)://[^\s-][^\s]*|[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:[^\s-][^\s]*"
)
NEW_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
SERVER = re.compile(r"\w[\w .:@/-]{0,199}")  # of plugins and connectors too
URL = re.compile(r"https?://[^\s/?#-][^\s]*", re.IGNORECASE)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
HEADER = re.compile(r"[A-Za-z0-9][!#$%&'*+.^_`|~0-9A-Za-z-]{0,199}")
UNSEEN = re.compile(r"[\x00-\x1f\x7f]")
LONGEST = 8_000
TYPED = 3_000  # a terminal takes no more in one line
MOST = 100


def plugin(name: str) -> str:
    if not PLUGIN.fullmatch(name):
        raise BadRequest(f"“{_told(name)}” cannot be a plugin: name or name@marketplace.")
    return name


def marketplace(name: str) -> str:
    if not MARKETPLACE.fullmatch(name):
        raise BadRequest(f"“{_told(name)}” cannot be a marketplace. /plugins marketplaces has all.")
    return name


def is_path(source: str) -> bool:
    return source.startswith(("/", "~", "."))


def source(given: str) -> str:
    """Of a marketplace that is not a directory. `ext::…` and the like would run programs."""
    known = GIT_ADDRESS.fullmatch(given) or REPOSITORY.fullmatch(given)
    if not known or len(given) > LONGEST or UNSEEN.search(given):
        raise BadRequest(
            "A marketplace comes from owner/repo, an https:// or git@ address, or a directory."
        )
    return given


def new_server(name: str) -> str:
    if not NEW_SERVER.fullmatch(name):
        raise BadRequest(
            f"“{_told(name)}” cannot be a server's name: letters, digits, - and _, up to 64."
        )
    return name


def server(name: str) -> str:
    if not SERVER.fullmatch(name):
        raise BadRequest(f"“{_told(name)}” cannot be a server's name. /mcp lists them.")
    return name


def url(given: str) -> str:
    if not URL.fullmatch(given) or len(given) > LONGEST or UNSEEN.search(given):
        raise BadRequest("An http or sse server is reached at an http:// or https:// address.")
    return given


def answer(given: str) -> str:
    """It is typed into a terminal: no key must be in it."""
    if not re.fullmatch(r"https?://[!-~]+", given) or len(given) > TYPED:
        raise BadRequest("That is no address: send the whole of what the browser shows, http://…")
    return given


def words(command: str, arguments: Sequence[str]) -> list[str]:
    """A command and its arguments; those may begin with a dash, for they stand behind `--`."""
    if not command.strip() or command.startswith("-"):
        raise BadRequest("A stdio server needs a command, such as: npx -y some-server")
    if len(arguments) > MOST:
        raise BadRequest(f"A server's command may have {MOST} arguments.")
    return [_plain(word, "A word of the command") for word in (command, *arguments)]


def variables(given: Mapping[str, str]) -> list[str]:
    _not_too_many(given, "variables")
    for name in given:
        if not VARIABLE.fullmatch(name):
            raise BadRequest(f"“{_told(name)}” cannot be a variable: letters, digits and _.")
    return [
        f"--env={name}={_plain(value, f'The variable {name}')}" for name, value in given.items()
    ]


def headers(given: Mapping[str, str]) -> list[str]:
    _not_too_many(given, "headers")
    for name, value in given.items():
        if not HEADER.fullmatch(name):
            raise BadRequest(f"“{_told(name)}” cannot be a header's name.")
        if UNSEEN.search(value):
            raise BadRequest(f"The header {name} has to be one line of plain text.")
    return [
        f"--header={name}: {_plain(value, f'The header {name}')}" for name, value in given.items()
    ]


def _plain(value: str, what: str) -> str:
    """Never says the value: it may be a secret."""
    if len(value) > LONGEST:
        raise BadRequest(f"{what} is longer than {LONGEST:,} characters.")
    if "\0" in value or (not value.isprintable() and _halves(value)):
        raise BadRequest(f"{what} is not plain text.")
    return value


def _halves(value: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in value)


def _not_too_many(given: Mapping[str, str], what: str) -> None:
    if len(given) > MOST:
        raise BadRequest(f"A server may have {MOST} {what}.")


def _told(name: str) -> str:
    return one_line(name[:200], 60)
