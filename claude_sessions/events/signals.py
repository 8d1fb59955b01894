"""Signals: live only, never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    TYPE: ClassVar[str] = ""
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantDelta(Signal):
    TYPE: ClassVar[str] = "assistant.delta"
    turn: str | None
    block: str
    offset: int  # characters of the block before this piece
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta(Signal):
    TYPE: ClassVar[str] = "assistant.thinking"
    turn: str | None
    block: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(Signal):
    TYPE: ClassVar[str] = "tool.progress"
    turn: str | None
    tool_use_id: str
    tool_name: str
    elapsed_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageTrouble(Signal):
    """The disk is full, or has room again. `session` is empty: it concerns everybody."""

    TYPE: ClassVar[str] = "storage.trouble"
    message: str
