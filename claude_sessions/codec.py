"""Payloads to JSON and back: on the wire and on disk, with camelCase keys.

Reading is lenient: unknown keys are passed over, an unknown type becomes `Unknown`.
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from claude_sessions.events import Json, Payload, Unknown


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


class _Codec:
    """How one payload class is read and written; made once at import."""

    def __init__(self, cls: type[Payload]) -> None:
        hints = typing.get_type_hints(cls)
        self.cls = cls
        self.keys = {camel(f.name): f.name for f in fields(cls)}
        self.names = [
            (f.name, camel(f.name), f.default if f.default is not MISSING else MISSING)
            for f in fields(cls)
        ]
        self.casts = [
            (f.name, cast) for f in fields(cls) if (cast := _cast_of(hints[f.name])) is not None
        ]

    def encode(self, payload: Payload) -> dict[str, Any]:
        data = {}
        for name, key, default in self.names:
            value = getattr(payload, name)
            if value is not None or default is MISSING:
                data[key] = value
        return data

    def decode(self, data: Json) -> Payload:
        keys = self.keys
        found = {keys[key]: value for key, value in data.items() if key in keys}
        for name, cast in self.casts:
            value = found.get(name)
            if value is not None:
                found[name] = cast(value)
        return self.cls(**found)


def _cast_of(hint: object) -> Callable[[Any], Any] | None:
    if isinstance(hint, types.UnionType):
        return next((c for part in hint.__args__ if (c := _cast_of(part)) is not None), None)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint
    return tuple if typing.get_origin(hint) is tuple else None


PAYLOADS: dict[str, type[Payload]] = {cls.TYPE: cls for cls in Payload.__subclasses__() if cls.TYPE}
_CODECS: dict[str, _Codec] = {name: _Codec(cls) for name, cls in PAYLOADS.items()}


def encode(payload: Payload) -> dict[str, Any]:
    if isinstance(payload, Unknown):
        return dict(payload.data)
    return _CODECS[payload.TYPE].encode(payload)


def decode(type_: str, data: Json) -> Payload:
    """Total: what cannot be read as its type is kept as `Unknown`."""
    codec = _CODECS.get(type_)
    if codec is None:
        return Unknown(type=type_, data=data)
    try:
        return codec.decode(data)
    except (TypeError, ValueError):
        return Unknown(type=type_, data=data)
