"""Real git repositories for tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

SETTINGS = ("-c", "user.name=T", "-c", "user.email=t@example.invalid", "-c", "commit.gpgSign=false")


def git(directory: Path, *arguments: str) -> str:
    """As its owner would, with nothing of this machine's configuration."""
    done = subprocess.run(
        ["git", *SETTINGS, *arguments],
        cwd=directory,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(directory)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def repository(directory: Path, branch: str = "main") -> Path:
    """With one commit, of a file called `readme`."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "--quiet", "--initial-branch", branch)
    (directory / "readme").write_text("read me\n")
    git(directory, "add", "readme")
    git(directory, "commit", "--quiet", "-m", "first")
    return directory
