from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from claude_sessions.clock import ManualClock
from claude_sessions.commands.workdirs import Workdirs
from claude_sessions.eventlog import EventLog
from claude_sessions.storage.documents import Documents
from claude_sessions.worktrees.book import WorktreeBook
from claude_sessions.worktrees.git import Git
from claude_sessions.worktrees.worktrees import Worktrees
from tests.worktrees.repositories import ENV, repository

IDENTITY = "[user]\n\tname = Test\n\temail = test@example.invalid\n"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(IDENTITY)
    return {"PATH": ENV["PATH"], "HOME": str(home)}


@pytest.fixture
def asking(environ: dict[str, str]) -> Git:
    return Git(environ)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with EventLog(tmp_path / "log.db", runner="r") as log:
        yield log


@pytest.fixture
def trusted() -> set[str]:
    return set()


@pytest.fixture
def worktrees(asking: Git, log: EventLog, tmp_path: Path, trusted: set[str]) -> Worktrees:
    return Worktrees(
        git=asking,
        book=WorktreeBook(Documents(tmp_path / "documents.json"), log),
        clock=ManualClock(),
        trusted=trusted.__contains__,
        allowed=Workdirs(tmp_path / "work", []).resolve,
    )


@pytest.fixture
def web(tmp_path: Path) -> Path:
    return repository(tmp_path / "work" / "web", readme="hello\n", src__page="one\n")
