"""Working trees: where a directory belongs, and which ones a repository has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """One entry of `git worktree list`; the first of a repository is its main one."""

    path: str
    head: str = ""
    branch: str = ""  # empty: none is checked out
    bare: bool = False
    locked: str | None = None  # the reason, which may be empty


def read_trees(listed: str) -> list[Tree]:
    """From `git worktree list --porcelain -z`."""
    return [_tree(dict(_fields(block))) for block in listed.split("\0\0") if block]


def _fields(block: str) -> Iterator[tuple[str, str]]:
    for line in block.split("\0"):
        key, _, value = line.partition(" ")
        yield key, value


def _tree(fields: dict[str, str]) -> Tree:
    return Tree(
        path=fields.get("worktree", ""),
        head=fields.get("HEAD", ""),
        branch=fields.get("branch", "").removeprefix(HEADS),
        bare="bare" in fields,
        locked=fields.get("locked"),
    )


def tree_of(directory: str) -> str | None:
    """The root of the working tree that a directory is in, as git finds it, without asking git."""
    path = Path(directory)
    for place in (path, *path.parents):
        mark = place / ".git"
        if mark.is_file() or (mark / "HEAD").exists():
            return str(place)
    return None


def branch_for(name: str) -> str:
    """A session's name as a branch: git allows fewer dots than we do."""
    dotted = re.sub(r"\.{2,}", ".", name).rstrip(".")
    return f"claude/{re.sub(r'[.]lock$', '-lock', dotted)}"
