"""All methods, by name."""

from __future__ import annotations

from typing import Any

from claude_sessions.gateway.methods import (
    access,
    decisions,
    extensions,
    history,
    plans,
    seed,
    sessions,
)
from claude_sessions.gateway.methods.base import Method

FAMILIES = (seed, sessions, decisions, plans, history, extensions, access)
METHODS: dict[str, Method[Any]] = {
    method.name: method for family in FAMILIES for method in family.METHODS
}
