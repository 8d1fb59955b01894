"""What a shell text would start once wrappers are taken off.

`sudo env A=1 timeout 5 rm x` starts `rm x`; so do `bash -c 'rm x'`, `eval "rm x"`, `… | xargs rm`
and `find . -exec rm {} +`. Each stage is listed: the wrapper itself and what it runs. A script
file, an interpreter's own code (`python -c`), a container and a wrapper nobody has heard of are
not looked into.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from claude_sessions.approvals.script import ANY, NAME, UNKNOWN, Simple
from claude_sessions.approvals.shell import read

Words = tuple[str, ...]

DEPTH = 8
MOST = 1000

SHELLS = frozenset({
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash",
})  # fmt: skip
SOURCES = frozenset({"source", "."})

# Wrappers, and how many words they take before the command they run.
WRAPPERS = dict.fromkeys([
    "sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "time",
    "setsid", "stdbuf", "unbuffer", "noglob", "nocorrect", "busybox", "toybox", "caffeinate",
    "strace", "ltrace", "xargs", "parallel", "npx", "bunx", "rlwrap", "entr", "eatmydata",
    "fakeroot", "torsocks", "proxychains", "proxychains4", "firejail", "watch", "setpriv",
    "unshare", "nsenter", "systemd-run", "systemd-inhibit", "dbus-run-session", "xvfb-run",
    "coproc", "pkexec", "runuser", "cgexec", "numactl", "prlimit", "valgrind", "gtime",
    "gnice", "gnohup", "genv", "gxargs", "gstdbuf", "-",
], 0) | dict.fromkeys([
    "timeout", "gtimeout", "chroot", "flock", "taskset", "chrt", "repeat", "faketime", "gosu",
], 1)  # fmt: skip
RUNNERS = {
    ("npm", "exec"): 0, ("npm", "x"): 0, ("pnpm", "exec"): 0, ("pnpm", "dlx"): 0,
    ("yarn", "exec"): 0, ("yarn", "dlx"): 0, ("bun", "x"): 0, ("bundle", "exec"): 0,
    ("mise", "exec"): 0, ("mise", "x"): 0, ("asdf", "exec"): 0, ("rbenv", "exec"): 0,
    ("pyenv", "exec"): 0, ("uv", "run"): 0, ("poetry", "run"): 0, ("pipenv", "run"): 0,
    ("rye", "run"): 0, ("hatch", "run"): 0, ("pdm", "run"): 0, ("conda", "run"): 0,
    ("direnv", "exec"): 1,
}  # fmt: skip
FEEDERS = frozenset({"xargs", "gxargs", "parallel"})
LATE_STRINGS = frozenset({"su", "runuser", "script", "flock", "nix-shell"})
EXEC_FLAGS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
SHELL_VALUE_FLAGS = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
GIT_VALUE_FLAGS = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_STRING_FLAG = re.compile(r"--(?:command|call|split-string|run)(?:=(.*))?|-[a-zA-Z]*[cS](.*)", re.S)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Everything that might run. A command whose only word is `ANY` could be anything at all."""

    commands: tuple[Simple, ...]
    certain: bool
    plain: bool  # one simple command, and so is every script it hands to a shell


@lru_cache(maxsize=256)
def started(text: str) -> Started:
    found: list[Simple] = []
    certain, plain = _collect(text, found, 0)
    if len(found) >= MOST:  # padded beyond reading: what was not read could be anything
        found.append(Simple(words=(ANY,)))
    return Started(commands=tuple(found), certain=certain, plain=plain)


def program(command: Simple) -> str:
    """`/bin/rm`, zsh's `=rm` and, on a Mac, `RM` are all `rm`."""
    return posixpath.basename(command.words[0]).lstrip("=").lower() if command.words else ""


def _collect(text: str, found: list[Simple], depth: int) -> tuple[bool, bool]:
    certain, plain = True, UNKNOWN.isdisjoint(text)
    # A line continuation may stand within any token (`$\\⏎(rm x)`): read the text without, too.
    for script in dict.fromkeys((read(text), read(text.replace("\\\n", "")))):
        certain, plain = certain and script.certain, plain and script.single
        for command in script.commands:
            sure, simple = _follow(command, found, depth)
            certain, plain = certain and sure, plain and simple
    return certain, plain


def _follow(command: Simple, found: list[Simple], depth: int) -> tuple[bool, bool]:
    if len(found) >= MOST:
        return False, False
    found.append(command)
    if depth >= DEPTH:
        found.append(Simple(words=(ANY,)))
        return False, False
    certain = plain = True
    for text in _scripts(command):
        if not UNKNOWN.isdisjoint(text):
            found.append(replace(command, words=(ANY,), assignments=()))
        sure, simple = _collect(text, found, depth + 1)
        certain, plain = certain and sure, plain and simple
    for words in _wrapped(command):
        rest = replace(command, words=words, assignments=())
        sure, simple = _follow(rest, found, depth + 1)
        certain, plain = certain and sure, plain and simple
        if len(found) >= MOST:
            return False, False
    return certain, plain


def _scripts(command: Simple) -> Iterator[str]:
    """Texts that this command hands to a shell."""
    name, words = program(command), command.words[1:]
    if name in SHELLS:
        yield from _shell_scripts(command)
    elif name in ("eval", "watch", "entr"):
        yield " ".join(words)
    elif name == "trap":
        yield from words[:1]
    elif name == "alias":
        yield from (word.partition("=")[2] for word in words)
    elif name in SOURCES and (command.inner or command.fed is not None):
        yield ANY  # `source <(…)`: a script only the shell will see
    elif name == "ssh":
        yield from (" ".join(rest) for rest in _after_options(words, 1))
    elif name == "git":
        yield from _git_scripts(words)
    if name in WRAPPERS or name in LATE_STRINGS or name in ("npm", "pnpm"):
        yield from _command_strings(words, late=name in LATE_STRINGS or name in ("npm", "pnpm"))


def _shell_scripts(command: Simple) -> Iterator[str]:
    words = command.words[1:]
    plain = [word for word in words if not word.startswith(("-", "+"))]
    if any(re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word) for word in words):
        valued = any(word in SHELL_VALUE_FLAGS for word in words)
        yield from plain[: 2 if valued else 1]
    elif command.inner and plain:
        yield ANY
    elif command.fed is not None:
        yield command.fed
    elif command.piped and (not plain or "-s" in words):
        yield ANY


def _command_strings(words: Words, *, late: bool) -> Iterator[str]:
    """What follows `-c` or `-S`; among a wrapper's own options only, unless they may come late."""
    for index, word in enumerate(words):
        if match := _STRING_FLAG.fullmatch(word):
            yield from [text for text in match.groups() if text] or words[index + 1 : index + 2]
        elif not late and not word.startswith("-") and not _ASSIGNMENT.match(word):
            return


def _git_scripts(words: Words) -> Iterator[str]:
    for index, word in enumerate(words):
        rest = words[index + 1 :]
        if word in ("-x", "--exec", "foreach", "run"):
            yield " ".join(rest)
            yield from rest[:1]
        elif word.startswith(("alias.", "--exec=")):
            text = word.partition("=")[2] or "".join(rest[:1])
            yield text.removeprefix("!")
            yield f"git {text}"


def _wrapped(command: Simple) -> Iterator[Words]:
    """The words of the command inside a wrapper; several readings where options leave doubt."""
    name, words = program(command), command.words
    if name == "command" and words[1:2] in (("-v",), ("-V",)):
        return
    if name in FEEDERS:
        for rest in _after_options(_filled(words[1:]), 0):
            yield (*rest, ANY)
    elif name in WRAPPERS:
        yield from _after_options(words[1:], WRAPPERS[name])
    elif name == "git":
        yield from _plain_git(words)
    elif name in ("find", "gfind", "fd", "fdfind"):
        yield from _executed(words)
    for index, word in enumerate(words):
        if (name, word) in RUNNERS:
            yield from _after_options(words[index + 1 :], RUNNERS[name, word])
            return


def _after_options(words: Words, skip: int) -> Iterator[Words]:
    """Past options and assignments; whether an option takes the next word is left open."""
    starts = {0}
    for index, word in enumerate(words):
        if index not in starts:
            continue
        if word == "--":
            rest = words[index + 1 + skip :]
        elif word.startswith("-") and len(word) > 1:
            starts |= {index + 1} if "=" in word else {index + 1, index + 2}
            continue
        elif _ASSIGNMENT.match(word):
            starts.add(index + 1)
            continue
        else:
            rest = words[index + skip :]
        if rest:
            yield rest


def _filled(words: Words) -> Words:
    """xargs words with its replacement string, which is data, standing as `ANY`."""
    kept: list[str] = []
    marks = {"{}"}
    takes_mark = False
    for word in words:
        if takes_mark:
            marks.add(word)
            takes_mark = False
        elif word in ("-I", "-J", "--replace"):
            takes_mark = True
        elif match := re.fullmatch(r"(?:-[IiJ]|--replace=)(.+)", word, re.S):
            marks.add(match.group(1))
        else:
            kept.append(word)
    pattern = re.compile("|".join(re.escape(mark) for mark in marks if mark))
    return tuple(pattern.sub(ANY, word) for word in kept)


def _plain_git(words: Words) -> Iterator[Words]:
    """`git -C x -c a=b push` is `git push`."""
    index = 1
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] in GIT_VALUE_FLAGS else 1
    if index > 1:
        yield ("git", *words[index:])


def _executed(words: Words) -> Iterator[Words]:
    for index, word in enumerate(words):
        if word in EXEC_FLAGS:
            rest = words[index + 1 :]
            end = next((at for at, part in enumerate(rest) if part in (";", "+")), len(rest))
            if end:
                yield tuple(part.replace("{}", NAME) for part in rest[:end])
