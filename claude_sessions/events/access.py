"""Who may come in: tokens made and revoked. Never what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from claude_sessions.events.base import Payload
from claude_sessions.model import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMade(Payload):
    TYPE: ClassVar[str] = "token.made"
    token_id: str
    name: str
    role: Role
    expires_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevoked(Payload):
    TYPE: ClassVar[str] = "token.revoked"
    token_id: str
