"""Whether a command only looks. When unsure, it does not."""

from __future__ import annotations

import posixpath
import re

from claude_sessions.approvals.commands import Words, program, started
from claude_sessions.approvals.script import UNKNOWN, Simple

# No option of these writes, runs or changes anything.
_LOOKERS = frozenset({
    "ls", "cat", "head", "tail", "wc", "pwd", "echo", "basename", "dirname", "realpath", "readlink",
    "stat", "du", "df", "which", "type", "whereis", "id", "whoami", "groups", "uname", "uptime",
    "free", "ps", "nl", "tac", "rev", "cut", "paste", "tr", "column", "fold", "expand", "unexpand",
    "comm", "join", "cmp", "diff", "md5sum", "sha1sum", "sha256sum", "sha512sum", "shasum", "cksum",
    "od", "hexdump", "strings", "seq", "true", "false", "sleep", "nproc", "arch", "tty", "locale",
    "grep", "egrep", "fgrep", "cd", ":",
})  # fmt: skip

# These have options that write or run something; any of them, or a word only the shell knows,
# and we are not sure.
_MOSTLY_LOOKERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "sort": ("oT", ("--output", "--compress-program", "--temporary-directory")),
    "tree": ("oR", ("--output",)),
    "file": ("C", ("--compile",)),
    "rg": ("z", ("--pre", "--hostname-bin", "--search-zip")),
    "fd": ("xX", ("--exec",)),
    "jq": ("i", ("--in-place",)),
    "date": ("sf", ("--set", "--file")),
    "printf": ("v", ()),
    "test": ("v", ()),
    "[": ("v", ()),
}
_FIND_ACTIONS = re.compile(r"-(?:exec|ok|delete|fprint|fls|fprintf|execdir|okdir).*")
_GIT_LOOKERS = frozenset({
    "status", "log", "diff", "show", "blame", "shortlog", "describe", "rev-parse", "rev-list",
    "ls-files", "ls-tree", "cat-file", "grep", "name-rev", "merge-base", "for-each-ref",
    "show-ref", "count-objects", "diff-tree", "whatchanged", "check-ignore",
})  # fmt: skip
_GIT_LISTS: dict[str, frozenset[str]] = {
    "branch": frozenset(
        {"-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--show-current"}
    ),
    "tag": frozenset({"-l", "--list", "-n"}),
    "remote": frozenset({"-v", "--verbose"}),
    "stash": frozenset({"list"}),
    "worktree": frozenset({"list", "--porcelain"}),
    "config": frozenset({"-l", "--list", "--show-origin", "--show-scope"}),
    "reflog": frozenset({"show"}),
}
_GIT_BAD = ("--output", "--ext-diff", "--textconv", "--filters", "--open-files-in-pager", "--exec")
_VERSIONED = frozenset({
    "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "python", "python3", "pip", "pip3", "uv",
    "ruby", "go", "cargo", "rustc", "java", "gcc", "clang", "make", "cmake", "docker", "git", "gh",
})  # fmt: skip
_WRAPPERS = frozenset({"command", "time", "timeout", "nice", "xargs", "builtin", "noglob"})
_QUIET_VARIABLES = re.compile(r"(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|COLUMNS|CLICOLOR)=[^\W_].*")
_PROGRAM_FOLDERS = frozenset({"", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"})


def only_reads(command: str) -> bool:
    """Every part of it looks and none writes, sets, runs or reaches out."""
    running = started(command)
    if not running.certain or not running.commands or not all(map(_looks, running.commands)):
        return False
    programs = {program(simple) for simple in running.commands}
    return not {"git", "cd"} <= programs  # another repository may have its own hooks run


def _looks(simple: Simple) -> bool:
    if simple.writes or any(path.startswith("/dev/") for path in simple.reads):
        return False
    if not all(_QUIET_VARIABLES.fullmatch(each) for each in simple.assignments):
        return False
    if not simple.words:
        return not simple.assignments
    folder, name = posixpath.split(simple.words[0])
    return folder in _PROGRAM_FOLDERS and _looks_as(name, simple.words[1:])


def _looks_as(name: str, words: Words) -> bool:
    if name in _LOOKERS:
        return True
    if name in _VERSIONED and words in (("--version",), ("-V",)):
        return True
    if name in _WRAPPERS:  # what they run is judged on its own
        return bool(words)
    if any(_may_be_an_option(word) for word in words):
        return False
    if name == "find":
        return not any(_FIND_ACTIONS.fullmatch(word) for word in words)
    if name == "git":
        return _git_looks(words)
    if name == "sed":
        return _sed_looks(words)
    if name == "uniq":  # its second word is a file it writes
        return all(word.startswith("-") for word in words)
    if name == "date" and any(re.fullmatch(r"[\d.]+", word) for word in words):
        return False
    return name in _MOSTLY_LOOKERS and _harmless(words, *_MOSTLY_LOOKERS[name])


def _may_be_an_option(word: str) -> bool:
    return word[:1] in UNKNOWN or (word[:1] == "-" and not UNKNOWN.isdisjoint(word))


def _harmless(words: Words, letters: str, names: tuple[str, ...]) -> bool:
    for word in words:
        if "`" in word or "$" in word:
            return False  # `test -v 'a[$(x)]'` runs x
        if word == "--":
            continue
        if word.startswith("--"):
            option = word.partition("=")[0]
            # The GNU tools and git take any unambiguous beginning of a long option.
            if any(bad.startswith(option) or option.startswith(bad) for bad in names):
                return False
        elif word.startswith("-") and set(letters) & set(word):
            return False
    return True


def _git_looks(words: Words) -> bool:
    while words and words[0] in ("--no-pager", "-P", "--no-optional-locks"):
        words = words[1:]
    if not words:
        return False
    verb, rest = words[0], words[1:]
    if verb in _GIT_LISTS:
        bare = bool(rest) or verb in ("branch", "tag", "remote", "reflog")
        return bare and all(word in _GIT_LISTS[verb] for word in rest)
    letters = "O" if verb == "grep" else ""
    return verb in _GIT_LOOKERS and _harmless(rest, letters, _GIT_BAD)


def _sed_looks(words: Words) -> bool:
    """Only `sed -n 10,20p file`: other scripts can write files and run commands."""
    return (
        len(words) >= 2
        and words[0] == "-n"
        and re.fullmatch(r"(\d+|\$)?(,(\d+|\$))?p", words[1]) is not None
        and not any(word.startswith("-") for word in words[2:])
    )
