"""What in a shell command deserves a second look."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from claude_sessions.approvals.commands import SHELLS, SOURCES, Words, program, started
from claude_sessions.approvals.guarded import why_guarded, why_secret
from claude_sessions.approvals.paths import absolute, is_inside, shown
from claude_sessions.approvals.script import ANY, NAME, PART, UNKNOWN, Simple
from claude_sessions.approvals.visible import one_line
from claude_sessions.model import Risk

_OTHER_USER = frozenset({"sudo", "doas", "su", "pkexec", "runuser", "gosu"})
_FETCHERS = frozenset({
    "curl", "wget", "fetch", "aria2c", "http", "https", "xh", "nc", "ncat", "netcat", "socat",
    "lynx", "w3m", "ftp", "sftp", "scp", "rsync", "ssh", "telnet",
})  # fmt: skip
_INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node", "php", "deno", "bun", "lua"}
_DISKS = re.compile(r"(mkfs|newfs)(\..*)?|fdisk|parted|wipefs|shred|mkswap|diskutil")
_POWER = frozenset({"shutdown", "reboot", "halt", "poweroff", "init"})
_WRITERS = frozenset({
    "tee", "mv", "dd", "touch", "mkdir", "rm", "rmdir", "unlink", "truncate", "chmod", "chown",
    "chgrp", "patch",
})  # fmt: skip
_COPIERS = frozenset({"cp", "install", "ln", "rsync", "scp"})
_GIT_RUNS = re.compile(r"core\.(hookspath|fsmonitor|sshcommand|editor|pager)|alias\.", re.I)
_DEVICES = re.compile(r"/dev/(null|stdin|stdout|stderr|tty|zero|u?random|fd/\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    risk: Risk
    reason: str


def dangers(command: str, directory: str, home: str) -> Iterator[Danger]:
    running = started(command)
    for simple in running.commands:
        for reason in _of_program(simple):
            yield Danger(risk=Risk.HIGH, reason=reason)
    yield from _of_paths(running.commands, directory, home)
    if _runs_what_it_fetches(running.commands):
        yield Danger(risk=Risk.HIGH, reason="runs what it downloads")
    if not running.certain:
        yield Danger(risk=Risk.HIGH, reason="parts of it cannot be read beforehand")


def _of_program(simple: Simple) -> Iterator[str]:
    name, words = program(simple), simple.words[1:]
    if name in _OTHER_USER:
        yield f"runs as another user ({name})"
    if _deletes_recursively(name, words):
        yield f"deletes recursively: {_quoted(simple)}"
    if name == "git":
        yield from _of_git(words)
    if _DISKS.fullmatch(name) or (name == "dd" and any(w.startswith("of=/dev/") for w in words)):
        yield f"writes to a disk directly ({name})"
    if name in _POWER:
        yield f"stops or restarts the machine ({name})"
    if name in ("chmod", "chown") and _has(words, "R", "--recursive"):
        yield f"changes rights recursively: {_quoted(simple)}"
    if name in ("kill", "killall", "pkill"):
        yield f"ends processes ({name})"
    if name in ("crontab", "at", "systemctl", "launchctl"):
        yield f"sets up something that runs later ({name})"
    if name in ("npm", "pnpm", "yarn", "cargo", "twine", "gem", "poetry", "uv") and (
        "publish" in words or "upload" in words
    ):
        yield f"publishes a package ({name})"


def _deletes_recursively(name: str, words: Words) -> bool:
    if name in ("rm", "grm", "srm"):
        return _has(words, "rR", "--recursive")
    if name in ("find", "gfind"):
        return "-delete" in words
    if name == "rsync":
        return any(word.startswith("--del") for word in words)
    return name == "git" and "clean" in words and _has(words, "f", "--force")


def _of_git(words: Words) -> Iterator[str]:
    verb = next((word for word in words if not word.startswith("-")), "")
    if verb == "push":
        if _has(words, "f", "--force") or any(word.startswith("+") for word in words):
            yield "force-pushes, which can overwrite what others pushed"
        gone = any(re.match(r":\S", word) for word in words)
        if gone or _has(words, "d", "--delete", "--mirror", "--prune"):
            yield "deletes branches on the server"
    if verb == "reset" and "--hard" in words:
        yield "throws away uncommitted work (git reset --hard)"
    if any(_GIT_RUNS.match(word) for word in words):
        yield "sets git up to run a program"


def _has(words: Words, letters: str, *names: str) -> bool:
    for word in words:
        if word.startswith("--") and len(word) > 2:
            option = word.partition("=")[0]
            if any(name.startswith(option) or option.startswith(name) for name in names):
                return True
        elif word.startswith("-") and set(letters) & set(word):
            return True
    return False


def _of_paths(commands: tuple[Simple, ...], directory: str, home: str) -> Iterator[Danger]:
    written = {
        word
        for simple in commands
        for word in (*simple.writes, *_written(program(simple), simple.words[1:]))
    }
    for path in _paths(written, directory, home):
        if why := why_guarded(path, directory, home):
            yield Danger(risk=Risk.HIGH, reason=f"writes to {why}")
    named = {word for each in commands for word in (*each.reads, *each.writes, *each.words[1:])}
    for path in _paths(named, directory, home):
        if why := why_secret(path):
            yield Danger(risk=Risk.HIGH, reason=f"touches {why}")
        if not is_inside(path, directory):
            where = one_line(shown(path, directory, home), 60)
            yield Danger(risk=Risk.MEDIUM, reason=f"reaches outside the directory: {where}")


def _paths(words: set[str], directory: str, home: str) -> list[str]:
    found = {_path(word, directory, home) for word in words}
    return sorted(path for path in found if path is not None)


def _written(name: str, words: Words) -> Words:
    """Which of a program's words it writes to."""
    if name in _WRITERS or (name in ("sed", "perl") and _has(words, "i", "--in-place")):
        return words
    if name in _COPIERS:
        return words if _has(words, "t", "--target-directory") else words[-1:]
    return ()


def _path(word: str, directory: str, home: str) -> str | None:
    """A word that looks like a path, made absolute; what stands after `=` counts too."""
    word = re.sub(r"^(--?[\w-]+|\w+)=", "", word)
    word = word.replace(NAME, "*")
    if re.match(f"[{ANY}{PART}]/", word):
        word = "~" + word[1:]  # most likely $HOME; in any case not known to be inside
    if not word or not UNKNOWN.isdisjoint(word) or "://" in word or word.startswith("-"):
        return None
    if word.startswith("~") and not word.startswith("~/") and word != "~":
        return "/" + word  # another user's home
    path = absolute(word, directory, home)
    return None if _DEVICES.fullmatch(path) else path


def _runs_what_it_fetches(commands: tuple[Simple, ...]) -> bool:
    fetched = False
    files: set[str] = set()
    for simple in commands:
        name, words = program(simple), simple.words[1:]
        runs = _is_interpreter(name) or name in SOURCES or name == "eval"
        if runs and any(program(inner) in _FETCHERS for inner in simple.inner):
            return True
        if fetched and simple.piped and _is_interpreter(name) and _reads_its_program(words):
            return True
        if name in files or (runs and files & {posixpath.basename(word) for word in words}):
            return True
        if name in _FETCHERS:
            fetched = True
            files |= {posixpath.basename(word) for word in (*simple.writes, *words)} - {""}
    return False


def _is_interpreter(name: str) -> bool:
    return name in _INTERPRETERS or re.fullmatch(r"python[\d.]+", name) is not None


def _reads_its_program(words: Words) -> bool:
    return all(word.startswith("-") for word in words) or "-s" in words or "-" in words


def _quoted(simple: Simple) -> str:
    words = " ".join(simple.words).replace(NAME, "*")
    return one_line(re.sub(f"[{ANY}{PART}]", "…", words), 60)
