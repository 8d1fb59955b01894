"""REST under `/api/v1`, as the runner's contract has it. `TABLE` is all of it.

Each operation is checked by the models that the OpenAPI document is made from. Left out on
purpose: cloning projects and logging in with a password, which are NOT_FOUND.
"""

from __future__ import annotations

from typing import Any

from claude_sessions.gateway.rest import (
    deciding,
    extensions,
    projects,
    sessions,
    speaking,
    timeline,
)
from claude_sessions.gateway.rest.operation import Operation

TABLE: tuple[Operation[Any, Any], ...] = (
    *projects.OPERATIONS,
    *sessions.OPERATIONS,
    *speaking.OPERATIONS,
    *deciding.OPERATIONS,
    *timeline.OPERATIONS,
    *extensions.OPERATIONS,
)
