"""Files that Claude hands over: what its answer links to on this machine. Pure but for a look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from claude_sessions.approvals.guarded import why_secret
from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.lexer import quote
from claude_sessions.state import SessionState

OFFERED = 3
CODE = re.compile(r"(?ms)^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`")
LINK = re.compile(r"\[[^\]\n]{0,300}\]\(\s*(?:<([^>\n]+)>|([^)\s]+))(?:\s+\"[^\"\n]*\")?\s*\)")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)|//|#")
LINE = re.compile(r":\d+(?:[:-]\d+)?$")  # src/a.py:42


def links(markdown: str) -> Iterator[str]:
    """The paths of links without a scheme, outside of code."""
    for match in LINK.finditer(CODE.sub("", markdown)):
        target = match[1] or match[2]
        if not SCHEME.match(target):
            yield LINE.sub("", unquote(target.partition("#")[0]))


def actions(state: SessionState, paths: Sequence[str]) -> tuple[Action, ...]:
    """For the last few that are there; what would not be sent is not offered."""
    unique = list(dict.fromkeys(path for path in paths if _is_there(state, path)))
    return tuple(
        Action(label=f"📎 {one_line(Path(path).name, 30)}", line=f"/get {state.id} {quote(path)}")
        for path in unique[-OFFERED:]
    )


def _is_there(state: SessionState, path: str) -> bool:
    try:
        real = (Path(state.spec.directory) / path).resolve()
        inside = real.is_relative_to(state.spec.directory)
        return inside and real.is_file() and why_secret(str(real)) is None
    except (OSError, ValueError, RuntimeError):
        return False
