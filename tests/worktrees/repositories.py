"""Real repositories, made and read with the real git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "user.name",
    "GIT_CONFIG_VALUE_0": "Test",
    "GIT_CONFIG_KEY_1": "user.email",
    "GIT_CONFIG_VALUE_1": "test@example.invalid",
    "GIT_CONFIG_KEY_2": "protocol.file.allow",
    "GIT_CONFIG_VALUE_2": "always",
}


def git(directory: Path | str, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, env=ENV, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def repository(path: Path, **files: str) -> Path:
    """With one commit, on main."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "-q", "-b", "main")
    commit(path, **(files or {"readme": "hello\n"}))
    return path


def commit(path: Path | str, message: str = "work", **files: str) -> str:
    for name, text in files.items():
        file = Path(path, *name.split("__"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", message)
    return git(path, "rev-parse", "HEAD")
