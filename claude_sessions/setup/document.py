"""What setup changes in a configuration file; comments and everything else stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Array

GREETING = (
    "Written by `claude-sessions setup`. Every setting, with its default and what it means,\n"
    "stands in config.example.toml. The bot's token is not in here: this file may be shown."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    name: str
    account: int
    token_file: Path
    workdir: Path | None = None  # None: it is configured already
    telegram: Mapping[str, str] = field(default_factory=dict)  # further keys of that section


def changed(text: str, changes: Changes) -> str:
    document = tomlkit.parse(text)
    if not text.strip():
        for line in GREETING.splitlines():
            document.add(tomlkit.comment(line))
        document.add(tomlkit.nl())
    _set_person(document, changes)
    if changes.workdir:
        _section(document, "sessions")["workdirs"] = [portable(changes.workdir)]
    telegram = _section(document, "telegram")
    if telegram.get("token"):
        del telegram["token"]  # from now on it stands in a file of its own
    telegram["token_file"] = portable(changes.token_file)
    telegram.update(changes.telegram)
    return tomlkit.dumps(document)


def portable(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _set_person(document: tomlkit.TOMLDocument, changes: Changes) -> None:
    people = document.get("people", [])
    for person in people:
        if person["name"].casefold() == changes.name.casefold():
            person["telegram"] = changes.account
            return
    one = tomlkit.inline_table() if isinstance(people, Array) else tomlkit.table()
    one.update({"name": changes.name, "role": "admin", "telegram": changes.account})
    if "people" not in document:
        if document:
            document.add(tomlkit.nl())
        document["people"] = people = tomlkit.aot()
    people.append(one)


def _section(document: tomlkit.TOMLDocument, name: str) -> MutableMapping[str, Any]:
    if name not in document:
        document[name] = tomlkit.table()
    section = document[name]
    assert isinstance(section, MutableMapping)
    return section
