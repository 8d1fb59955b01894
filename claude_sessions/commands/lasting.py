"""Claude's own commands that outlast their session.

`/config permissionMode=auto` asks nobody: it loosens every other session of whoever runs the
daemon, as if they had set it at their own terminal. So it is not for everyone who may talk.
"""

from __future__ import annotations

from claude_sessions.errors import Forbidden
from claude_sessions.model import Role
from claude_sessions.people import Caller
from claude_sessions.sessions.stream import slash_of

LASTING = frozenset(
    {"auto-mode-setup", "autocompact", "config", "heapdump", "output-style", "settings"}
)


def only_admins_change_what_lasts(text: str, caller: Caller) -> None:
    slash = slash_of(text)
    if slash is None or slash[0] not in LASTING:
        return
    if caller.agent or not caller.role.covers(Role.ADMIN):
        raise Forbidden(f"/{slash[0]} reaches beyond this session: only an admin may.")
