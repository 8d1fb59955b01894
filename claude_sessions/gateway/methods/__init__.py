"""All methods, by name."""

from __future__ import annotations

from typing import Any

from claude_sessions.gateway.methods import access, chatting, seed
from claude_sessions.gateway.methods.base import Method

METHODS: dict[str, Method[Any]] = {
    method.name: method for family in (seed, access, chatting) for method in family.METHODS
}
