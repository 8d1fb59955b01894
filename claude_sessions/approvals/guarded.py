"""Places where a file is more than a file: it will be run, or it opens a door."""

from __future__ import annotations

import posixpath
import re

from claude_sessions.approvals.paths import folded, is_inside

_SHELL_FILES = frozenset({
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
    ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
    ".login", ".inputrc", ".xprofile", ".xinitrc", ".xsessionrc", "config.fish",
})  # fmt: skip
_TOOL_FILES = {
    ".mcp.json": "the list of MCP servers Claude starts",
    ".claude.json": "Claude's own settings",
    ".gitconfig": "git's settings, which can run programs",
    ".gitmodules": "the list of git submodules",
    ".envrc": "a file that direnv runs",
    ".npmrc": "npm's settings and tokens",
    ".pypirc": "passwords for PyPI",
    ".netrc": "passwords for servers",
    "authorized_keys": "the keys that may log in",
    "crontab": "scheduled commands",
}
_FOLDERS = {
    ".ssh": "the SSH keys and settings",
    ".gnupg": "the GnuPG keys",
    ".aws": "the AWS credentials",
    ".kube": "the Kubernetes credentials",
    ".docker": "Docker's settings and credentials",
    ".claude": "Claude's own settings",
    ".vscode": "editor settings that can run programs",
    ".idea": "editor settings that can run programs",
    ".husky": "git hooks, which run on their own",
    "autostart": "programs started at login",
    "launchagents": "programs started at login",
    "launchdaemons": "programs started with the machine",
}
_SYSTEM = {
    "/etc": "the system's settings (/etc)",
    "/private/etc": "the system's settings (/etc)",
    "/boot": "the files the machine starts from",
    "/usr": "the system's programs",
    "/bin": "the system's programs",
    "/sbin": "the system's programs",
    "/lib": "the system's programs",
    "/dev": "a device",
    "/proc": "the running kernel",
    "/sys": "the running kernel",
    "/var/spool/cron": "scheduled commands",
    "/library": "the system's settings",
    "/system": "the system's programs",
}
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".kube", ".docker"})
_SECRET_FILES = frozenset({
    ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".claude.json",
    "claude-sessions.toml",
})  # fmt: skip
_SECRET_NAMES = re.compile(r"\.env(rc|[._-].*)?|id_[a-z0-9_-]+|\.?credentials.*")
_SECRET_PATHS = frozenset({"/etc/shadow", "/etc/gshadow", "/etc/sudoers"})
_SECRET_ENDINGS = ("/.git/config", "/gh/hosts.yml")
_SECRET_SUFFIXES = frozenset({
    ".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".keychain", ".kdbx",
})  # fmt: skip


def why_guarded(path: str, directory: str, home: str) -> str | None:
    """What an absolute path that should not be written lightly is, in words; else None.

    What lies above the session's own directory says nothing: it may well be a worktree inside
    some `.claude`, or a checkout under /usr.
    """
    if is_plan(path, home):
        return None
    path, directory = folded(path), folded(directory)
    if is_inside(path, directory):
        path = path[len(directory.rstrip("/")) :] or "/."
    else:
        for start, words in _SYSTEM.items():
            if is_inside(path, start):
                return words
    return _why_named(path.strip("/").split("/"))


def _why_named(parts: list[str]) -> str | None:
    if ".git" in parts:
        hooks = "hooks" in parts[parts.index(".git") :]
        return "git hooks, which run on their own" if hooks else "git's own files"
    if parts[-1] in _SHELL_FILES:
        return "a shell start-up file"
    if parts[-1] in _TOOL_FILES:
        return _TOOL_FILES[parts[-1]]
    if ".config" in parts and {"systemd", "fish"} & set(parts):
        return "programs started at login"
    return next((_FOLDERS[part] for part in parts if part in _FOLDERS), None)


def why_secret(path: str) -> str | None:
    path = folded(path)
    parts = path.strip("/").split("/")
    name = parts[-1]
    named = name in _SECRET_FILES or _SECRET_NAMES.fullmatch(name) is not None
    placed = path in _SECRET_PATHS or path.endswith(_SECRET_ENDINGS)
    keyed = posixpath.splitext(name)[1] in _SECRET_SUFFIXES and not name.startswith(".")
    if named or placed or keyed or _SECRET_FOLDERS & set(parts):
        return "a file that usually holds keys or passwords"
    return None


def is_plan(path: str, home: str) -> bool:
    """The file in which Claude writes its plan, the one thing plan mode may write."""
    plans = posixpath.join(folded(home), ".claude", "plans")
    path = folded(path)
    return path != plans and is_inside(path, plans) and path.endswith(".md")
