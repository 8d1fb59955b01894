"""Merging and removing: what somebody has done is never lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from claude_sessions.errors import Conflict, Forbidden, SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.worktrees.book import Worktree
from claude_sessions.worktrees.worktrees import Worktrees
from tests.worktrees.repositories import commit, git

FIX = ".claude/worktrees/fix"


@pytest.fixture
async def fix(worktrees: Worktrees, web: Path) -> Worktree:
    return (await worktrees.make(str(web), "fix", caller="me")).worktree


@pytest.fixture
def there(fix: Worktree) -> Path:
    return Path(fix.directory)


async def test_its_commits_are_merged_into_the_branch_it_began_from(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path, log: EventLog
) -> None:
    commit(there, new="x")
    commit(there, more="y")
    commit(web, other="z")
    assert await worktrees.merge(fix, None, caller="me") == ("main", 2)
    assert (web / "new").exists()
    assert git(web, "log", "-1", "--format=%s") == "Merge branch 'claude/fix'"
    assert await worktrees.merge(fix, None, caller="me") == ("main", 0)
    merged = [event.payload for event in await log.events() if event.type == "worktree.merged"]
    assert len(merged) == 1


async def test_it_is_merged_into_another_branch_that_is_checked_out(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    commit(there, new="x")
    git(web, "switch", "-q", "-c", "next")
    with pytest.raises(Conflict, match=r"is on next, not on main\. .* git switch main"):
        await worktrees.merge(fix, None, caller="me")
    with pytest.raises(Conflict, match="not on claude/fix"):
        await worktrees.merge(fix, "claude/fix", caller="me")
    with pytest.raises(Conflict, match="not on --abort"):
        await worktrees.merge(fix, "--abort", caller="me")
    assert await worktrees.merge(fix, "next", caller="me") == ("next", 1)


async def test_a_conflict_is_aborted_and_names_the_files(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    commit(there, readme="theirs\n", src__page="theirs\n")
    before = commit(web, readme="ours\n", src__page="ours\n")
    with pytest.raises(Conflict, match="nothing has changed: it conflicts in readme, src/page"):
        await worktrees.merge(fix, None, caller="me")
    assert git(web, "status", "--porcelain") == ""
    assert git(web, "rev-parse", "HEAD") == before
    assert not (web / ".git" / "MERGE_HEAD").exists()


async def test_a_merge_that_cannot_be_committed_is_taken_back(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path, environ: dict[str, str]
) -> None:
    commit(there, new="x")
    before = commit(web, other="z")
    nobody(environ)
    with pytest.raises(Conflict, match="was not merged: "):
        await worktrees.merge(fix, None, caller="me")
    assert git(web, "rev-parse", "HEAD") == before
    assert not (web / ".git" / "MERGE_HEAD").exists()


async def test_a_main_tree_with_changes_is_not_merged_into(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    commit(there, new="x")
    (web / "readme").write_text("changed\n")
    with pytest.raises(Conflict, match=r"1 uncommitted file: readme\. Commit or stash"):
        await worktrees.merge(fix, None, caller="me")
    assert (web / "readme").read_text() == "changed\n"


async def test_an_untracked_file_is_never_written_over(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    commit(there, new="theirs")
    (web / "new").write_text("mine, not committed")
    with pytest.raises(Conflict, match="was not merged"):
        await worktrees.merge(fix, None, caller="me")
    assert (web / "new").read_text() == "mine, not committed"


async def test_a_merge_that_somebody_has_begun_is_left_alone(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    commit(there, new="x")
    git(web, "switch", "-q", "-c", "side")
    commit(web, side="x")
    git(web, "switch", "-q", "main")
    commit(web, mine="x")
    git(web, "merge", "-q", "--no-commit", "side")
    with pytest.raises(Conflict, match="in the middle of a merge"):
        await worktrees.merge(fix, None, caller="me")
    assert (web / ".git" / "MERGE_HEAD").exists()


def nobody(environ: dict[str, str]) -> None:
    Path(environ["HOME"], ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")


def modified(there: Path) -> None:
    (there / "readme").write_text("precious\n")


def staged(there: Path) -> None:
    (there / "precious").write_text("x")
    git(there, "add", "precious")


def untracked(there: Path) -> None:
    (there / "precious").write_text("x")


def untracked_where_git_is_told_not_to_look(there: Path) -> None:
    git(there, "config", "status.showUntrackedFiles", "no")
    (there / "precious").write_text("x")


def deleted(there: Path) -> None:
    (there / "readme").unlink()


def in_the_middle_of_a_merge(there: Path) -> None:
    git(there, "switch", "-q", "-c", "side")
    git(there, "commit", "-q", "--allow-empty", "-m", "side")
    git(there, "switch", "-q", "claude/fix")
    git(there, "commit", "-q", "--allow-empty", "-m", "own")
    git(there, "merge", "-q", "--no-commit", "--no-ff", "side")


def committed_on_no_branch(there: Path) -> None:
    git(there, "checkout", "-q", "--detach")
    commit(there, precious="x")


WORK: list[Callable[[Path], None]] = [
    modified,
    staged,
    untracked,
    untracked_where_git_is_told_not_to_look,
    deleted,
    in_the_middle_of_a_merge,
    committed_on_no_branch,
]


@pytest.mark.parametrize("keep_branch", [False, True])
@pytest.mark.parametrize("work", WORK, ids=lambda work: str(work.__name__))
async def test_work_that_is_nowhere_else_is_never_removed(
    worktrees: Worktrees,
    fix: Worktree,
    there: Path,
    work: Callable[[Path], None],
    keep_branch: bool,
) -> None:
    work(there)
    before = git(there, "status", "--porcelain", "-uall"), git(there, "rev-parse", "HEAD")
    with pytest.raises(Conflict):
        await worktrees.remove(fix, keep_branch=keep_branch, caller="me")
    assert (git(there, "status", "--porcelain", "-uall"), git(there, "rev-parse", "HEAD")) == before
    assert worktrees.book.all() == [fix]


@pytest.mark.parametrize("work", WORK[:-1], ids=lambda work: str(work.__name__))
async def test_work_that_is_not_committed_is_not_merged_past(
    worktrees: Worktrees, fix: Worktree, there: Path, work: Callable[[Path], None]
) -> None:
    work(there)
    with pytest.raises(Conflict, match=r"uncommitted file|in the middle of a merge"):
        await worktrees.merge(fix, None, caller="me")


async def test_the_refusal_says_how_to_keep_it(
    worktrees: Worktrees, fix: Worktree, there: Path
) -> None:
    untracked(there)
    with pytest.raises(Conflict, match=r"1 uncommitted file: precious\.\nCommit .* stash -u"):
        await worktrees.remove(fix, keep_branch=True, caller="me")
    git(there, "stash", "-u")
    assert not await worktrees.remove(fix, keep_branch=False, caller="me")


async def test_commits_that_are_in_no_other_branch_keep_it(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    precious = commit(there, precious="x")
    with pytest.raises(Conflict, match="1 commit of claude/fix is in no other branch") as refusal:
        await worktrees.remove(fix, keep_branch=False, caller="me")
    assert "/worktrees merge fix" in str(refusal.value)
    assert "/worktrees remove fix --yes" in str(refusal.value)
    assert (web / FIX).exists()
    assert await worktrees.remove(fix, keep_branch=True, caller="me")
    assert not (web / FIX).exists()
    assert git(web, "rev-parse", "claude/fix") == precious


@pytest.mark.parametrize("ref", ["refs/heads/other", "refs/remotes/origin/fix", "refs/tags/v1"])
async def test_commits_that_are_elsewhere_do_not(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path, ref: str
) -> None:
    git(web, "update-ref", ref, commit(there, precious="x"))
    assert not await worktrees.remove(fix, keep_branch=False, caller="me")
    assert git(web, "branch", "--list", "claude/*") == ""


async def test_a_worktree_that_somebody_locked_is_left(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    git(web, "worktree", "lock", "--reason", "on a stick", str(there))
    with pytest.raises(Conflict, match=r"fix is locked \(on a stick\): git worktree unlock"):
        await worktrees.remove(fix, keep_branch=False, caller="me")
    assert (web / FIX).exists()
    assert git(web, "branch", "--list", "claude/fix") != ""


async def test_one_that_has_left_its_branch_is_not_taken_for_merged(
    worktrees: Worktrees, fix: Worktree, there: Path
) -> None:
    git(there, "switch", "-q", "-c", "elsewhere")
    commit(there, precious="x")
    with pytest.raises(Conflict, match=r"fix is on elsewhere now.* switch claude/fix"):
        await worktrees.merge(fix, None, caller="me")
    (standing,), _ = await worktrees.look()
    assert standing.branch == "elsewhere"


async def test_a_branch_that_is_checked_out_elsewhere_is_kept(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    git(there, "switch", "-q", "-c", "elsewhere")
    git(web, "switch", "-q", "claude/fix")
    assert await worktrees.remove(fix, keep_branch=False, caller="me")
    assert git(web, "branch", "--show-current") == "claude/fix"
    assert git(web, "log", "-1", "--format=%s") == "work"


async def test_programs_that_nobody_trusts_are_not_run_by_looking_or_ending(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path, tmp_path: Path
) -> None:
    commit(there, **{".gitattributes": "readme filter=evil\n"})
    git(web, "config", "filter.evil.clean", f"touch {tmp_path / 'ran'}; cat")
    (there / "readme").write_text("changed\n")
    (standing,), _ = await worktrees.look()
    assert "filter.evil.clean" in standing.problem
    with pytest.raises(Forbidden):
        await worktrees.merge(fix, None, caller="me")
    with pytest.raises(Forbidden):
        await worktrees.remove(fix, keep_branch=True, caller="me")
    assert not (tmp_path / "ran").exists()


async def test_the_list_counts_commits_and_files(
    worktrees: Worktrees, fix: Worktree, there: Path
) -> None:
    commit(there, one="x")
    commit(there, two="x")
    (there / "three").write_text("x")
    (standing,), gone = await worktrees.look()
    assert (standing.worktree, standing.ahead, standing.uncommitted) == (fix, 2, 1)
    assert gone == []


async def test_one_deleted_by_hand_is_struck_off_and_its_branch_stays(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path, log: EventLog
) -> None:
    precious = commit(there, precious="x")
    worktrees.book.assign(fix, "s1")
    shutil.rmtree(there)
    assert await worktrees.look() == ([], [replace(fix, session="s1")])
    assert await worktrees.look() == ([], [])
    assert git(web, "rev-parse", "claude/fix") == precious
    assert "claude/worktrees" not in git(web, "worktree", "list")
    (removed,) = [x.payload for x in await log.events() if x.type == "worktree.removed"]
    assert getattr(removed, "reason", None) == "gone"


async def test_a_whole_repository_deleted_by_hand_is_survived(
    worktrees: Worktrees, web: Path, fix: Worktree
) -> None:
    shutil.rmtree(web)
    assert await worktrees.look() == ([], [fix])


async def test_one_that_git_no_longer_knows_is_listed_with_its_problem_and_kept(
    worktrees: Worktrees, web: Path, fix: Worktree, there: Path
) -> None:
    (there / "precious").write_text("x")
    shutil.rmtree(web / ".git" / "worktrees")
    (standing,), _ = await worktrees.look()
    assert "no longer a worktree" in standing.problem
    with pytest.raises(SessionsError):
        await worktrees.remove(fix, keep_branch=True, caller="me")
    assert (there / "precious").exists()


async def test_a_crash_before_git_made_it_leaves_nothing(worktrees: Worktrees, web: Path) -> None:
    fix = (await worktrees.make(str(web), "fix", caller="me")).worktree
    git(web, "worktree", "remove", fix.directory)
    assert await worktrees.look() == ([], [fix])
    assert worktrees.book.all() == []
    assert git(web, "branch", "--list", "claude/*") == ""


async def test_a_crash_while_git_made_it_leaves_nothing(worktrees: Worktrees, web: Path) -> None:
    fix = (await worktrees.make(str(web), "fix", caller="me")).worktree
    git(web, "worktree", "lock", "--reason", "initializing", fix.directory)
    (web / ".claude/worktrees/fix/readme").unlink()
    assert await worktrees.look() == ([], [fix])
    assert not (web / ".claude/worktrees/fix").exists()
    assert git(web, "branch", "--list", "claude/*") == ""


async def test_a_crash_after_git_made_it_leaves_one_without_a_session(
    worktrees: Worktrees, fix: Worktree
) -> None:
    (standing,), _ = await worktrees.look()
    assert standing.worktree.session is None
    worktrees.book.assign(fix, "s1")
    (standing,), _ = await worktrees.look()
    assert standing.worktree.session == "s1"
