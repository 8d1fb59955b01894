"""The explicit surroundings of a CLI that a test, a benchmark or the demo starts."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import claude_agent_sdk
import orjson

API_KEY = "sk-fake"
BUNDLED_CLI = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
SDK_SETS = ("CLAUDE_CODE_ENTRYPOINT", "CLAUDE_AGENT_SDK_VERSION")
GIT_CONFIG = """\
[user]
\tname = Demo
\temail = demo@example.invalid
[init]
\tdefaultBranch = main
"""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A home of its own under `root` and an environment with nothing of the machine's.

    The SDK adds the whole of `os.environ` to what it is given; `cli()` writes a `cli_path` that
    starts the bundled CLI with `env` alone. `subscription` signs in with a token instead of a
    key, which is what rate limit events need. Folders below `root` are trusted.
    """

    root: Path
    model_url: str
    subscription: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.tmp.mkdir(exist_ok=True)
        settings = self.home / ".claude.json"
        if not settings.exists():
            settings.write_bytes(orjson.dumps(no_dialogs(self.root)))
            (self.home / ".gitconfig").write_text(GIT_CONFIG)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def env(self) -> dict[str, str]:
        key = "CLAUDE_CODE_OAUTH_TOKEN" if self.subscription else "ANTHROPIC_API_KEY"
        return {
            "HOME": str(self.home),
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMPDIR": str(self.tmp),
            "CLAUDE_CODE_TMPDIR": str(self.tmp),
            key: API_KEY,
            "ANTHROPIC_BASE_URL": self.model_url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
            **self.extra,
        }

    def cli(self, name: str = "claude") -> Path:
        """Write a script that starts the bundled CLI in this sandbox, for use as `cli_path`."""
        given = " ".join(shlex.quote(f"{key}={value}") for key, value in self.env.items())
        kept = " ".join(f'${{{key}:+"{key}=${key}"}}' for key in SDK_SETS)
        path = self.root / name
        path.write_text(
            f'#!/bin/sh\nexec env -i {given} {kept} {shlex.quote(str(BUNDLED_CLI))} "$@"\n'
        )
        path.chmod(0o755)
        return path


def no_dialogs(trusted: Path) -> dict[str, object]:
    """A `.claude.json` with which the CLI starts in a terminal without asking anything."""
    return {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
        "hasSeenAutoDefaultNotice": True,
        "projects": {str(trusted.resolve()): {"hasTrustDialogAccepted": True}},
    }
