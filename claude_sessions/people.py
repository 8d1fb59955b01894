"""Who is behind a command, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass

from claude_sessions.errors import Forbidden
from claude_sessions.model import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A person or program at a door. `channel` is where they read."""

    name: str
    role: Role
    door: str
    channel: str | None = None
    agent: bool = False  # a program acting by itself: may never loosen anything

    def __str__(self) -> str:
        return f"{self.name} ({self.door})"

    def must_be(self, needed: Role, to: str) -> None:
        if not self.role.covers(needed):
            raise Forbidden(f"You may not {to}: it needs the role {needed}, yours is {self.role}.")

    def must_be_admin_to_loosen(self, what: str) -> None:
        if self.agent or not self.role.covers(Role.ADMIN):
            raise Forbidden(f"{what} loosens what the configuration allows: only an admin may.")
