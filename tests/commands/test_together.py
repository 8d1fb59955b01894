from __future__ import annotations

from dataclasses import replace

import pytest

from claude_sessions.commands import MergeWorktree, MoveToWorktree, RemoveWorktree, together
from claude_sessions.commands.chat import parse
from claude_sessions.worktrees.book import Worktree
from claude_sessions.worktrees.worktrees import Standing
from tests.commands.test_replies import ASLEEP, NOW, session

FIX = Worktree(
    name="fix",
    session="id-fix",
    repository="/home/me/web",
    directory="/home/me/web/.claude/worktrees/fix",
    branch="claude/fix",
    base="main",
    base_commit="0123456789abcdef",
    by="me",
    at=NOW,
)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("a", "⚠️ a also works in web (main)."),
        ("a b", "⚠️ a and b also work in web (main)."),
        ("a b c", "⚠️ a, b and c also work in web (main)."),
        ("a b c d e", "⚠️ a, b, c and 2 more also work in web (main)."),
    ],
)
def test_the_warning_names_three_at_most(names: str, text: str) -> None:
    others = [session(name) for name in names.split()]
    said, action = together.warned(session("new"), others, "main")
    assert said == text
    assert parse(action.line) == MoveToWorktree(session="id-new")


def test_a_warning_without_a_branch_names_none() -> None:
    assert together.warned(session("new"), [session("a")], "")[0] == "⚠️ a also works in web."


def test_the_list_says_what_stands_where_and_what_can_be_done() -> None:
    standing = Standing(worktree=FIX, branch="claude/fix", ahead=2, uncommitted=1)
    text, actions = together.listing([standing], {"fix": session("fix", **ASLEEP)}, [], NOW)
    assert text.splitlines() == [
        "fix · claude/fix · 💤 asleep 3 h",
        "   2 commits ahead of main · 1 uncommitted file",
        "   📁 /home/me/web/.claude/worktrees/fix",
    ]
    assert [parse(action.line) for action in actions] == [
        MergeWorktree(worktree="fix"),
        RemoveWorktree(worktree="fix"),
    ]


def test_what_is_not_there_is_said() -> None:
    bare = Standing(worktree=replace(FIX, session=None, base=""))
    text, actions = together.listing([bare], {"fix": None}, [replace(FIX, name="old")], NOW)
    assert "fix · claude/fix · no session" in text
    assert "0 commits ahead of 01234567 · now on no branch" in text
    assert "old is gone from" in text
    assert [action.label for action in actions] == ["Remove fix"]


def test_a_problem_takes_the_place_of_the_figures_on_one_line() -> None:
    standing = Standing(worktree=FIX, problem="no longer\na worktree\x1b[31m")
    text, _ = together.listing([standing], {}, [], NOW)
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text


def test_a_long_list_is_cut() -> None:
    many = [Standing(worktree=replace(FIX, name=f"w{n}")) for n in range(25)]
    assert together.listing(many, {}, [], NOW)[0].endswith("… and 5 more")
