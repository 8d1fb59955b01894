"""Answers as JSON, in the runner's envelope."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Scope

from claude_sessions.gateway.refusals import Refused

JSON = "application/json"


class Answer(Response):
    """`content` may have parts that are JSON already (`orjson.Fragment`)."""

    media_type = JSON

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else orjson.dumps(content)


def request_id_of(scope: Scope) -> str:
    return str(scope["state"]["request_id"])


def refusal(error: Refused, request_id: str) -> Answer:
    headers = {}
    if error.retry_after is not None:
        headers["retry-after"] = str(max(1, round(error.retry_after)))
    if error.code.status == 408:
        headers["connection"] = "close"  # the rest of the body will not be read
    if error.code.status == 401:
        headers["www-authenticate"] = "Bearer"
    said: dict[str, Any] = {"code": error.code.name, "message": str(error), "requestId": request_id}
    if error.details is not None:
        said["details"] = error.details
    return Answer({"error": said}, status_code=error.code.status, headers=headers)
