"""Where the worktrees are, and that the repository they are in does not see them."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.errors import Conflict, Forbidden
from claude_sessions.model import WORKTREES

LINE = f"/{WORKTREES}/"


def exclude(file: Path) -> None:
    """In git's private list of what to ignore, never in the user's .gitignore."""
    try:
        text = file.read_text(errors="surrogateescape") if file.exists() else ""
        if LINE in text.splitlines():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        before = "" if not text or text.endswith("\n") else "\n"
        with file.open("a", encoding="utf-8") as end:
            end.write(f"{before}{LINE}\n")
    except OSError as error:
        raise Conflict(f"{file} could not be written: {error.strerror}.") from error


def refuse_links(directory: str) -> None:
    """A repository may have made `.claude` lead out of the directories that are allowed."""
    path = Path(directory)
    if path.resolve() != path:
        raise Forbidden(f"{path.parent} leads elsewhere, to {path.resolve().parent}. Unlink it.")
