"""What every event is: an envelope around one typed payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    TYPE: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A fact on its way into the log, which adds its place and time."""

    payload: Payload
    session: str | None = None
    project: str | None = None
    run: str | None = None
    turn: str | None = None
    caller: str | None = None
    caused_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    seq: int  # place in the log
    epoch: str  # which log
    session_seq: int  # place in the session, from 1; 0 without a session
    id: str
    at: datetime
    runner: str
    project: str | None
    session: str | None
    run: str | None
    turn: str | None
    payload: Payload
    caller: str | None = None
    caused_by: str | None = None

    @property
    def type(self) -> str:
        return self.payload.type if isinstance(self.payload, Unknown) else self.payload.TYPE

    @property
    def version(self) -> int:
        return self.payload.VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Payload):
    """Written by a later version of this program: kept, passed over."""

    type: str
    data: Json
