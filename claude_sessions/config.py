"""Reading the settings: defaults, then a TOML file, then the environment, then flags.

The later wins. A configuration with a problem never loads; all its problems are told at once,
each on one line with where it stands, the key, the reason and what to do. The home, where the
daemon keeps its state, is found here too.
"""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeGuard, Union, get_args, get_origin

import platformdirs
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from claude_sessions.errors import ConfigError
from claude_sessions.model import new_id
from claude_sessions.places import home_path, typed
from claude_sessions.settings import ENV_PREFIX, Settings

__all__ = ["Loaded", "Settings", "config_path", "home_path", "load", "make_home", "runner_id"]

FILE_HERE = Path("claude-sessions.toml")
RUNNER_ID = "runner-id"

Key = tuple[str, ...]

REMEDIES = {
    "missing": "add it",
    "int_type": "write a whole number, without quotes",
    "int_from_float": "write a whole number",
    "float_type": "write a number, without quotes",
    "bool_type": "write true or false, without quotes",
    "string_type": "write it in quotes",
    "path_type": "write it in quotes",
    "tuple_type": 'write a list, like ["a", "b"]',
    "dict_type": 'write a table, like { NAME = "value" }',
    "mapping_type": 'write a table, like { NAME = "value" }',
    "model_type": "write it as a section of its own, in [brackets]",
    "greater_than": "choose a larger number",
    "greater_than_equal": "choose a larger number",
    "less_than_equal": "choose a smaller number",
    "finite_number": "choose a number",
    "string_too_short": "write something",
    "string_too_long": "shorten it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    settings: Settings
    source: Path | None  # the file that was read, if there is one


def load(
    given: Path | None = None,
    *,
    environ: Mapping[str, str],
    flags: Mapping[str, tuple[str, object]] | None = None,
) -> Loaded:
    """Read everything, or raise one ConfigError with every problem.

    `given` is what `--config` said. `flags` has, for each flag as the user typed it, the dotted
    key it sets and the value: `{"--log-level": ("log.level", "debug")}`; None was not typed.
    """
    draft = _Draft()
    source = typed("--config", given) if given else _usual_file()
    if source:
        draft.read_file(source)
    for variable in sorted(name for name in environ if name.startswith(ENV_PREFIX)):
        draft.put(_key_of(variable), environ[variable], f"environment variable {variable}")
    for flag, (key, value) in (flags or {}).items():
        if value is not None:
            draft.put(tuple(key.split(".")), value, f"flag {flag}")
    return Loaded(settings=draft.finish(), source=source)


def config_path(given: Path | None = None) -> Path:
    """The file that would be read; while there is none, where it belongs."""
    return typed("--config", given) if given else _usual_file() or _file_everywhere()


def make_home(home: Path) -> Path:
    """Make sure that the home exists and that nobody else can look into it."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home.stat().st_mode & 0o077:
            if not (home / RUNNER_ID).exists() and any(home.iterdir()):
                # It may be anything, the user's own home even: not ours to close.
                reason = "others can look into it, and it holds other things"
                raise ConfigError(
                    [f"{home}: {reason}; choose another with --home, or chmod 700 it"]
                )
            home.chmod(0o700)
    except OSError as error:
        reason = f"cannot be the home ({error.strerror})"
        raise ConfigError([f"{home}: {reason}; choose another with --home"]) from error
    return home


def runner_id(home: Path) -> str:
    """This machine's id, made at the first call and the same ever after."""
    file = home / RUNNER_ID
    if not file.exists():
        with tempfile.NamedTemporaryFile("w", dir=home, prefix=RUNNER_ID) as draft:  # 0600
            draft.write(new_id() + "\n")
            draft.flush()
            os.fsync(draft.fileno())
            with suppress(FileExistsError):  # another process was first: its id counts
                os.link(draft.name, file)
    made = file.read_text(encoding="utf-8").strip()
    if not made:
        raise ConfigError([f"{file}: empty; delete it, or set runner.id to what it was"])
    return made


def _usual_file() -> Path | None:
    usual = (FILE_HERE, _file_everywhere())
    return next((path.absolute() for path in usual if path.is_file()), None)


def _file_everywhere() -> Path:
    return platformdirs.user_config_path("claude-sessions", appauthor=False) / "config.toml"


def _key_of(variable: str) -> Key:
    """Sections and keys are lower case; what stands below a key, as in `env`, is as written."""
    section, *rest = variable.removeprefix(ENV_PREFIX).split("__", 2)
    return (section.lower(), *(part.lower() for part in rest[:1]), *rest[1:])


@dataclass(slots=True)
class _Draft:
    """What was read so far, where each part came from, and what is wrong with it."""

    data: dict[str, Any] = field(default_factory=dict)
    origins: dict[Key, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def read_file(self, path: Path) -> None:
        self.origins[()] = str(path)
        try:
            self.data = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            self._problem(str(path), f"cannot be read ({error.strerror}); correct the path")
        except (ValueError, RecursionError) as error:  # also not UTF-8, or absurd numbers
            self._problem(str(path), f"not TOML: {error}; correct it there")

    def put(self, key: Key, value: object, origin: str) -> None:
        """Values that come as text are read as their key means them."""
        if isinstance(value, str) and not _is_unicode(value):
            self._problem(origin, f"{'.'.join(key)}: not UTF-8; write it anew")
            return
        kind = _kind_of(key)
        if isinstance(value, str) and kind is not None and not _is_text(kind):
            value = _as_toml(value)
        place = self.data
        for part in key[:-1]:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                self._problem(origin, f"{'.'.join(key)}: {part} has no keys below it; remove this")
                return
        place[key[-1]] = value
        self.origins[key] = origin

    def finish(self) -> Settings:
        try:
            # As JSON, because pydantic then takes text for a path but, being strict, nothing else.
            settings = Settings.model_validate_json(json.dumps(self.data, default=str), strict=True)
        except ValidationError as error:
            for details in error.errors():
                if details["type"] == "default_factory_not_called":
                    continue  # follows from another problem, which is told
                self._problem(self._origin_of(details["loc"]), _explain(details))
        else:
            if not self.problems:
                return settings
        raise ConfigError(self.problems)

    def _problem(self, origin: str, text: str) -> None:
        line = " ".join(f"{origin}: {text}".split())
        self.problems.append("".join(c if c.isprintable() else "�" for c in line))

    def _origin_of(self, loc: tuple[int | str, ...]) -> str:
        key = tuple(map(str, loc))
        above = [
            self.origins[key[:end]] for end in range(len(key), 0, -1) if key[:end] in self.origins
        ]
        below = [origin for other, origin in self.origins.items() if other[: len(key)] == key]
        return next(iter([*above, *below, self.origins.get((), "")]))


def _explain(details: ErrorDetails) -> str:
    key = ".".join(map(str, details["loc"]))
    kind, reason = details["type"], details["msg"]
    match kind:
        case "extra_forbidden":
            return f"{key}: unknown key; {_nearest(details['loc'])}"
        case "enum" | "literal_error":
            return f"{key}: not one of its values; choose {details['ctx']['expected']}"
        case "value_error":  # our own, which say what to do
            return f"{key}: {reason.removeprefix('Value error, ')}"
    reason = reason.removeprefix("Input ").removeprefix("Field ")
    return f"{key}: {reason}; {REMEDIES.get(kind, 'compare it with config.example.toml')}"


def _nearest(loc: tuple[int | str, ...]) -> str:
    *above, wrong = map(str, loc)
    siblings = _keys_of(_kind_of(tuple(above)))
    homes = [name for name in Settings.model_fields if wrong in _keys_of(_kind_of((name,)))]
    if homes:
        return f"it belongs in [{homes[0]}]"
    if near := get_close_matches(wrong, siblings, n=1):
        return f"did you mean {near[0]}?"
    return f"the keys here are {', '.join(siblings)}" if siblings else "nothing can stand here"


def _keys_of(kind: object) -> list[str]:
    return list(kind.model_fields) if _is_section(kind) else []


def _kind_of(key: Key) -> object:
    """The type that the settings give to a key; None for a key they do not know."""
    kind: object = Settings
    for part in key:
        if _is_section(kind):
            known = kind.model_fields.get(part)
            kind = known.annotation if known else None
        else:  # an item of a list, or of a table of texts
            kind = get_args(kind)[0] if get_args(kind) else None
    return kind


def _is_section(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _is_text(kind: object) -> bool:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return any(_is_text(each) for each in get_args(kind))
    if origin is Annotated:
        return _is_text(get_args(kind)[0])
    return origin is Literal or (isinstance(kind, type) and issubclass(kind, (str, Path)))


def _is_unicode(text: str) -> bool:
    """The environment may hold any bytes; those that are no text come as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_toml(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # the check of its type then says what it should be
