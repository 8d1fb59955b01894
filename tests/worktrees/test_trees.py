from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions.model import NAME
from claude_sessions.worktrees.trees import Tree, branch_for, read_trees, tree_of
from tests.worktrees.repositories import git, repository


def test_the_working_tree_is_the_one_git_finds(tmp_path: Path) -> None:
    web = repository(tmp_path / "web", src__page="x")
    git(web, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    nested = repository(web / "vendor" / "lib")
    for place in (web, web / "src", tmp_path / "side" / "src", nested):
        assert tree_of(str(place)) == git(place, "rev-parse", "--show-toplevel")
    assert tree_of(str(tmp_path)) is None


def test_an_empty_git_folder_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert tree_of(str(tmp_path)) is None


def test_worktrees_are_read_whatever_their_directory_is_called(tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    odd = tmp_path / "a\n\nworktree b"
    git(web, "worktree", "add", "-q", "--lock", "--reason", "mine", "-b", "side", str(odd))
    git(web, "checkout", "-q", "--detach")
    listed = git(web, "worktree", "list", "--porcelain", "-z")
    head = git(web, "rev-parse", "HEAD")
    assert read_trees(listed) == [
        Tree(path=str(web), head=head),
        Tree(path=str(odd), head=head, branch="side", locked="mine"),
    ]


def test_a_bare_repository_is_seen_as_such(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    (tree,) = read_trees(git(tmp_path / "bare", "worktree", "list", "--porcelain", "-z"))
    assert tree.bare


@pytest.mark.parametrize(
    ("name", "branch"),
    [
        ("fix-css", "claude/fix-css"),
        ("v1.2", "claude/v1.2"),
        ("a..b", "claude/a.b"),
        ("a.", "claude/a"),
        ("x.lock", "claude/x-lock"),
        ("x.lock..", "claude/x-lock"),
    ],
)
def test_a_name_becomes_a_branch(name: str, branch: str) -> None:
    assert branch_for(name) == branch


@settings(deadline=None, max_examples=60)
@given(st.from_regex(NAME, fullmatch=True))
def test_every_name_a_session_can_have_makes_a_branch_that_git_takes(name: str) -> None:
    subprocess.run(["git", "check-ref-format", "--branch", branch_for(name)], check=True)
