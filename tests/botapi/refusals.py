"""What Telegram answers when it does not do as asked, in its own words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True, eq=False)
class Refused(Exception):
    code: int
    description: str
    parameters: dict[str, int] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        body = {"ok": False, "error_code": self.code, "description": self.description}
        return body | {"parameters": self.parameters} if self.parameters else body


def bad_request(description: str) -> Refused:
    return Refused(code=400, description=f"Bad Request: {description}")


def forbidden(description: str) -> Refused:
    return Refused(code=403, description=f"Forbidden: {description}")


def unauthorized() -> Refused:
    return Refused(code=401, description="Unauthorized")


def not_found() -> Refused:
    return Refused(code=404, description="Not Found: method not found")


def conflict() -> Refused:
    return Refused(
        code=409,
        description="Conflict: terminated by other getUpdates request; "
        "make sure that only one bot instance is running",
    )


def too_many_requests(retry_after: int) -> Refused:
    return Refused(
        code=429,
        description=f"Too Many Requests: retry after {retry_after}",
        parameters={"retry_after": retry_after},
    )


def migrated(chat_id: int) -> Refused:
    return Refused(
        code=400,
        description="Bad Request: group chat was upgraded to a supergroup chat",
        parameters={"migrate_to_chat_id": chat_id},
    )
