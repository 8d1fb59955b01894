from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.errors import Conflict
from claude_sessions.worktrees.git import Git
from tests.worktrees.repositories import git, repository


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


async def test_git_gets_an_environment_made_from_nothing(tmp_path: Path) -> None:
    path = program(tmp_path / "bin" / "git", "env").parent
    given = {"PATH": f"{path}:/usr/bin:/bin", "HOME": "/h", "GIT_DIR": "/evil", "SECRET": "x"}
    said = (await Git(given).read(str(tmp_path), "anything")).splitlines()
    names = {line.split("=")[0] for line in said} - {"PWD", "_", "OLDPWD", "SHLVL"}
    assert names == {"PATH", "HOME", "LANG", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS"}


async def test_git_s_last_line_becomes_the_error(asking: Git, web: Path) -> None:
    with pytest.raises(Conflict, match=r"git rev-parse failed in .*web: fatal: .*"):
        await asking.read(str(web), "rev-parse", "--verify", "nowhere")


async def test_git_is_stopped_when_it_takes_too_long(tmp_path: Path) -> None:
    path = program(tmp_path / "bin" / "git", "exec sleep 60").parent
    patient = Git({"PATH": f"{path}:/usr/bin:/bin"}, patience=0.2)
    with pytest.raises(Conflict, match=r"git status took more than 0\.2 s"):
        await patient.ask(str(tmp_path), "status")


async def test_no_git_and_no_directory_are_said(asking: Git, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match=r"cannot be run .* Is git installed"):
        await Git({"PATH": str(tmp_path)}).ask(str(tmp_path), "status")
    with pytest.raises(Conflict, match="cannot be run in /nowhere"):
        await asking.ask("/nowhere", "status")


async def test_the_hooks_and_the_monitor_of_a_repository_are_not_run(
    asking: Git, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    mark = tmp_path / "ran"
    program(web / ".git" / "hooks" / "post-checkout", f"touch {mark}")
    git(web, "config", "core.fsmonitor", str(program(tmp_path / "spy", f"touch {mark}")))
    await asking.read(str(web), "worktree", "add", "-b", "side", str(tmp_path / "side"))
    await asking.read(str(web), "status", "--porcelain")
    assert not mark.exists()
    git(web, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    assert mark.exists()  # it would have been
