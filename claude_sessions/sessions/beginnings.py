"""The first facts: a session is born, a message is accepted."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from claude_sessions import events as e
from claude_sessions.model import SessionSpec


def project_id(directory: str) -> str:
    return hashlib.sha256(directory.encode()).hexdigest()[:16]


def born(spec: SessionSpec, prompt: str, origin: str | None) -> e.SessionCreated:
    return e.SessionCreated(
        project_id=project_id(spec.directory),
        name="",  # found when its turn to begin comes
        directory=spec.directory,
        model=spec.model,
        permission_mode=spec.mode,
        budget_usd=spec.budget_usd,
        system_prompt=spec.system_prompt,
        allowed_tools=spec.allowed_tools,
        once=spec.once,
        trusted=spec.trusted,
        prompt=prompt,
        origin=origin,
    )


def new_message(
    text: str,
    attachments: tuple[Mapping[str, Any], ...],
    *,
    steer: bool = False,
    front: bool = False,
) -> e.UserMessage:
    return e.UserMessage(
        message_id=str(uuid.uuid4()),
        text=text,
        attachments=attachments,
        steer=steer,
        front=front,
    )
