"""What a command and its reply are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from claude_sessions.channel import Action, Notification
from claude_sessions.model import Role

HERE = ""  # as a session: the one in front, see `here.py`


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`text` is for a chat, `data` for a program; both say the same.

    `narrow`: the text for a screen on which columns do not stand below each other. `again`: the
    line that gives this list as it is by then. `card`: the text is that of a card.
    """

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    session: str | None = None
    actions: tuple[Action, ...] = ()
    narrow: str = ""
    again: str = ""
    card: Notification | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    ROLE: ClassVar[Role] = Role.ADMIN
    TO: ClassVar[str] = "do that"  # completes "You may not …"
