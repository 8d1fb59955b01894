"""The systemd user unit: its text, from the file beside this one, and putting it to work."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from claude_sessions.setup.files import as_they_were_on, write

NAME = "claude-sessions.service"
PATIENCE = 150.0  # seconds; the unit itself allows two minutes for a start
USUAL_PATH = ("%h/.local/bin", "/usr/local/bin", "/usr/bin", "/bin")


class Refused(Exception):
    """What systemctl was asked, and what it answered."""


def unit_text(environ: Mapping[str, str], config: Path | None = None) -> str:
    """`config`: a file that the daemon would not find by itself."""
    flags = ("--config", str(config)) if config else ()
    lines = {
        "ExecStart=": " ".join(map(_word, (*program(), "run", *flags))),
        "Environment=PATH=": _path(environ),
    }
    template = (resources.files(__package__) / NAME).read_text(encoding="utf-8")
    return "".join(_line(line, lines) for line in template.splitlines(keepends=True))


def program() -> tuple[str, ...]:
    """How the daemon is started from anywhere: the script beside this Python, else this Python."""
    python = Path(sys.executable)
    script = python.with_name("claude-sessions")
    return (str(script),) if script.is_file() else (str(python), "-m", "claude_sessions")


def _line(line: str, known: Mapping[str, str]) -> str:
    key = next((key for key in known if line.startswith(key)), None)
    if key is None:
        return line
    if key == "Environment=PATH=":
        return f'Environment="PATH={known[key]}"\n'
    return f"{key}{known[key]}\n"


def _path(environ: Mapping[str, str]) -> str:
    """Where the person's own `claude` is, if they have one, and the usual places."""
    claude = shutil.which("claude", path=environ.get("PATH", ""))
    own = [_escaped(str(Path(claude).absolute().parent))] if claude else []
    return ":".join(dict.fromkeys([*own, *USUAL_PATH]))


def _word(word: str) -> str:
    return f'"{_escaped(word).replace("$", "$$")}"' if _is_odd(word) else word


def _is_odd(word: str) -> bool:
    return not all(char.isalnum() or char in "/._-+@:," for char in word)


def _escaped(text: str) -> str:
    """Between double quotes, as systemd reads them."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSystemd:
    """The systemd of the person who runs this, as `systemctl --user` reaches it."""

    environ: Mapping[str, str]

    @property
    def file(self) -> Path:
        base = self.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        return Path(base) / "systemd" / "user" / NAME

    def answers(self) -> bool:
        try:
            self._tell("show-environment")
        except Refused:
            return False
        return True

    def install(self, text: str) -> None:
        """Written, enabled, and running with what the configuration says now."""
        fresh = not self.file.exists()
        try:
            with as_they_were_on(KeyboardInterrupt, self.file):
                self._install(text)
        except KeyboardInterrupt:
            if fresh:
                self._ask("disable", "--now", NAME)
            self._ask("daemon-reload")
            raise

    def _install(self, text: str) -> None:
        running = self._is_running()
        write(self.file, text, 0o644)
        self._tell("daemon-reload")
        self._tell("enable", "--now", NAME)
        if running:
            self._tell("restart", NAME)

    def _is_running(self) -> bool:
        answer = self._ask("is-active", "--quiet", NAME)
        return answer is not None and answer.returncode == 0

    def _tell(self, *words: str) -> None:
        answer = self._ask(*words)
        if answer is None or answer.returncode:
            said = " ".join(answer.stderr.split()) if answer else "no answer"
            raise Refused(f"systemctl --user {' '.join(words)}: {said or 'it failed'}")

    def _ask(self, *words: str) -> subprocess.CompletedProcess[str] | None:
        """None if it cannot be run, or does not come to an end."""
        found = shutil.which("systemctl", path=self.environ.get("PATH", ""))
        if not found:
            return None
        try:
            return subprocess.run(
                [found, "--user", *words],
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
