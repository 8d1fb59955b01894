"""Whom a session reports to when nobody watches it: the channel it came from. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os.path import expanduser

UNKNOWN = "unknown"
SEPARATOR = "|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a message goes; a target may itself contain the separator."""

    channel: str
    account: str | None
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """What the configuration says of sessions whose caller reads nowhere."""

    workdirs: Mapping[str, str] = field(default_factory=dict)  # directory → channel
    fallback: str | None = None

    def of(self, argument: str | None, caller_channel: str | None, directory: str) -> str:
        return resolve(argument, caller_channel, directory, self.workdirs, self.fallback)

    def of_directory(self, directory: str) -> str | None:
        """Only what is configured for this directory itself."""
        return named(_by_directory(directory, self.workdirs))


def resolve(
    argument: str | None,
    caller_channel: str | None,
    directory: str,
    workdirs: Mapping[str, str],
    fallback: str | None,
) -> str:
    """The first of these that names a channel; else `unknown`."""
    candidates = (argument, caller_channel, _by_directory(directory, workdirs), fallback)
    return next((found for given in candidates if (found := named(given))), UNKNOWN)


def parts_of(channel_id: str) -> Address | None:
    """None: a single segment, or a part is empty, so nobody can be written to."""
    channel, *rest = channel_id.split(SEPARATOR)
    account = rest.pop(0) if len(rest) > 1 else None
    target = SEPARATOR.join(rest)
    if not channel.strip() or account == "" or not target.strip(f" {SEPARATOR}"):
        return None
    return Address(channel=channel, account=account, target=target)


def named(given: str | None) -> str | None:
    """The channel that is meant; a number alone is a chat of Telegram."""
    found = (given or "").strip()
    if re.fullmatch(r"-?[0-9]+", found):
        return f"telegram{SEPARATOR}{found}"
    return None if found in ("", UNKNOWN) else found


def _by_directory(directory: str, workdirs: Mapping[str, str]) -> str | None:
    here = directory.rstrip("/")
    keys = {expanduser(key).rstrip("/"): channel for key, channel in workdirs.items()}
    for key in sorted(keys, key=len, reverse=True):
        if here == key or here.startswith(f"{key}/"):
            return keys[key]
    return None
