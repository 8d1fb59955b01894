"""Paths by their text alone: made absolute, shown short, matched against gitignore-like globs.

Nothing here looks at the disk, so a link that leads elsewhere is not seen; a caller who can look
passes what it found as `ToolCall.resolved`.
"""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from functools import lru_cache

GLOB_MARKS = frozenset("*?[]\\")


def home_directory() -> str:
    return os.path.expanduser("~")


def absolute(path: str, directory: str, home: str) -> str:
    """Absolute and without `.` or `..`."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    joined = posixpath.normpath(posixpath.join("/", directory, path))
    return "/" + joined.lstrip("/")


def is_inside(path: str, directory: str) -> bool:
    """Both absolute and normal; a directory is inside itself."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def shown(path: str, directory: str, home: str) -> str:
    """Relative inside the directory, with `~` inside the home, else whole."""
    full = absolute(path, directory, home)
    if directory and is_inside(full, root := absolute(directory, "/", home)):
        return posixpath.relpath(full, root)
    if home not in ("", "/") and is_inside(full, home):
        return "~" + full[len(home.rstrip("/")) :]
    return full


def escaped(path: str) -> str:
    """A glob that matches this very path."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", path)


def folded(text: str) -> str:
    """As a disk that ignores case and composition would compare it."""
    return unicodedata.normalize("NFC", text).casefold()


def covers(pattern: str, path: str, *, directory: str, home: str, fold: bool = False) -> bool:
    """Whether the absolute `path` is what `pattern` names, or lies below it.

    `src/**` and `./x` count from the directory, `~/x` from the home, `/x` and `//x` from the root;
    a pattern with no slash is met at any depth of the directory.
    """
    base, rest, anchored = _based(pattern, directory, home)
    if fold:
        base, rest, path = folded(base), folded(rest), folded(path)
    if not is_inside(path, base):
        return False
    relative = path[len(base.rstrip("/")) :].lstrip("/")
    return _expression(rest, anchored).fullmatch(relative) is not None


def literal_root(pattern: str, *, directory: str, home: str) -> str:
    """The deepest directory above everything the pattern can name."""
    base, rest, anchored = _based(pattern, directory, home)
    if anchored:
        for part in rest.split("/")[:-1]:
            if GLOB_MARKS & set(part):
                break
            base = posixpath.join(base, part)
    return base


def _based(pattern: str, directory: str, home: str) -> tuple[str, str, bool]:
    base, rest, anchored = absolute(directory, "/", home), pattern, "/" in pattern.rstrip("/")
    if pattern.startswith("/"):
        base = "/"
    elif pattern == "~" or pattern.startswith("~/"):
        base, rest, anchored = home, pattern[1:], True
    elif pattern in (".", ".."):
        anchored = True
    while rest == ".." or rest.startswith("../"):
        base, rest = posixpath.dirname(base), rest[3:]
    below = "/" if rest.endswith("/") else ""
    parts = [part for part in rest.split("/") if part not in ("", ".")]
    return base, "/".join(parts) + (below if parts else ""), anchored


@lru_cache(maxsize=512)
def _expression(glob: str, anchored: bool) -> re.Pattern[str]:
    if not glob:
        return re.compile(r".*", re.S)
    only_below = glob.endswith(("/", "/**"))
    parts = glob.removesuffix("/").removesuffix("/**").split("/")
    expression = "" if anchored else r"(?:.*/)?"
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            expression += ".*" if last else r"(?:.*/)?"
        else:
            expression += _segment(part) + ("" if last else "/")
    return re.compile(expression + (r"/.+" if only_below else r"(?:/.*)?"), re.S)


_TOKEN = re.compile(r"\\(.)|(\*+)|(\?)|\[([!^]?)(\]?[^\]]*)\]|(.)", re.S)


def _segment(part: str) -> str:
    out = []
    for match in _TOKEN.finditer(part):
        literal, stars, mark, negation, members, other = match.groups()
        if stars:
            out.append("[^/]*")
        elif mark:
            out.append("[^/]")
        elif members:
            marks = r"([\\\[\]^&~|-])" if "--" in members else r"([\\\[\]^&~|])"
            listed = re.sub(marks, r"\\\1", members)
            out.append(f"(?!/)[{'^' if negation else ''}{listed}]")
        else:
            out.append(re.escape(literal or other or match.group()))
    return "".join(out)
