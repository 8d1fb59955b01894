from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from claude_sessions.errors import BadRequest, Conflict, Forbidden, SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.worktrees.book import Worktree
from claude_sessions.worktrees.worktrees import Worktrees
from tests.worktrees.repositories import commit, git, repository


async def made(worktrees: Worktrees, directory: Path, name: str = "fix") -> Worktree:
    return (await worktrees.make(str(directory), name, caller="me")).worktree


async def types(log: EventLog) -> list[str]:
    return [event.type for event in await log.events()]


async def test_it_begins_from_the_last_commit_and_remembers_the_branch(
    worktrees: Worktrees, web: Path
) -> None:
    (web / "readme").write_text("changed, not committed\n")
    worktree = await made(worktrees, web)
    assert worktree.directory == str(web / ".claude/worktrees/fix")
    assert (worktree.branch, worktree.base) == ("claude/fix", "main")
    assert worktree.base_commit == git(web, "rev-parse", "main")
    assert (web / ".claude/worktrees/fix/readme").read_text() == "hello\n"
    assert worktrees.book.all() == [worktree]


async def test_the_exclusion_is_written_once_and_the_user_s_own_lines_stay(
    worktrees: Worktrees, web: Path
) -> None:
    exclude = web / ".git" / "info" / "exclude"
    exclude.write_text("*.tmp")
    await made(worktrees, web, "one")
    await made(worktrees, web, "two")
    assert exclude.read_text() == "*.tmp\n/.claude/worktrees/\n"
    assert git(web, "status", "--porcelain") == ""


async def test_a_taken_branch_directory_or_name_gets_a_number(
    worktrees: Worktrees, web: Path, tmp_path: Path
) -> None:
    git(web, "branch", "claude/a")
    (web / ".claude/worktrees/b").mkdir(parents=True)
    other = repository(tmp_path / "work" / "other")
    assert (await made(worktrees, web, "a")).branch == "claude/a-2"
    assert (await made(worktrees, web, "b")).name == "b-2"
    assert (await made(worktrees, other, "b-2")).name == "b-2-2"


async def test_one_made_in_a_worktree_begins_from_that_but_lies_beside_it(
    worktrees: Worktrees, web: Path
) -> None:
    first = await made(worktrees, web, "first")
    commit(first.directory, new="x")
    second = await made(worktrees, Path(first.directory, "src"), "second")
    assert second.directory == str(web / ".claude/worktrees/second")
    assert second.base == "claude/first"
    assert (web / ".claude/worktrees/second/new").exists()


async def test_without_a_branch_the_commit_is_remembered(worktrees: Worktrees, web: Path) -> None:
    git(web, "checkout", "-q", "--detach")
    worktree = await made(worktrees, web)
    assert worktree.base == ""
    with pytest.raises(Conflict, match="--into BRANCH"):
        await worktrees.merge(worktree, None, caller="me")


async def test_where_a_worktree_makes_no_sense_a_sentence_says_so(
    worktrees: Worktrees, web: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    (work / "plain").mkdir()
    (web / "scratch").mkdir()
    (web / "scratch" / "x").write_text("not committed")
    git(work, "init", "-q", "empty")
    git(work, "init", "-q", "--bare", "bare")
    parent = repository(work / "parent")
    git(parent, "submodule", "--quiet", "add", str(web), "lib")
    git(parent, "commit", "-qm", "lib")
    refusals = {
        "plain": r"--worktree needs a git repository: .*plain is none \(git init makes one\)\.",
        "empty": "needs a commit to begin from: .*empty has none yet",
        "bare": "is a bare repository",
        "web/.git": "needs files to work on",
        "web/scratch": "not in the last commit.*Commit it first",
        "parent": "it has submodules",
        "parent/lib": "does not work in a submodule",
    }
    for place, sentence in refusals.items():
        with pytest.raises(BadRequest, match=sentence):
            await made(worktrees, work / place)
    assert worktrees.book.all() == []


async def test_a_repository_that_begins_above_what_is_allowed_is_refused(
    worktrees: Worktrees, tmp_path: Path
) -> None:
    repository(tmp_path, work__sub__file="x")
    with pytest.raises(Forbidden, match="outside the allowed directories"):
        await made(worktrees, tmp_path / "work" / "sub")
    assert not (tmp_path / ".claude").exists()


@pytest.mark.parametrize("link", [".claude", ".claude/worktrees"])
async def test_a_link_that_leads_out_is_refused(
    worktrees: Worktrees, web: Path, tmp_path: Path, link: str
) -> None:
    (tmp_path / "out").mkdir()
    (web / link).parent.mkdir(exist_ok=True)
    (web / link).symlink_to(tmp_path / "out")
    with pytest.raises(Forbidden, match="leads elsewhere"):
        await made(worktrees, web)
    assert list((tmp_path / "out").iterdir()) == []
    assert worktrees.book.all() == []


async def test_programs_in_a_repository_s_own_settings_need_trust(
    worktrees: Worktrees, web: Path, tmp_path: Path, trusted: set[str]
) -> None:
    mark = tmp_path / "ran"
    commit(web, **{".gitattributes": "readme filter=evil\n"})
    git(web, "config", "filter.evil.smudge", f"touch {mark}; cat")
    with pytest.raises(Forbidden, match=r"filter\.evil\.smudge.* /trust .*web lets it run"):
        await made(worktrees, web)
    assert not mark.exists()
    trusted.add(str(web))
    await made(worktrees, web)
    assert mark.exists()


async def test_what_git_refuses_is_said_and_leaves_nothing(
    worktrees: Worktrees, web: Path, log: EventLog
) -> None:
    git(web, "branch", "claude")  # no branch can be below it
    with pytest.raises(Conflict, match=r"git worktree failed in .*: fatal: .*claude/fix"):
        await made(worktrees, web)
    assert worktrees.book.all() == []
    assert not (web / ".claude/worktrees/fix").exists()
    assert await types(log) == ["worktree.created", "worktree.removed"]


async def test_hostile_names_of_branches_and_directories_are_only_names(
    worktrees: Worktrees, tmp_path: Path
) -> None:
    odd = repository(tmp_path / "work" / "--upload-pack=touch x; $(y)\n'z")
    git(odd, "update-ref", "refs/heads/-f", "HEAD")
    git(odd, "symbolic-ref", "HEAD", "refs/heads/-f")
    worktree = await made(worktrees, odd)
    assert worktree.base == "-f"
    commit(worktree.directory, new="x")
    assert await worktrees.merge(worktree, None, caller="me") == ("-f", 1)
    assert (odd / "new").exists()
    assert not await worktrees.remove(worktree, keep_branch=False, caller="me")


async def test_many_at_once_get_a_name_each_and_none_looks_gone(
    worktrees: Worktrees, web: Path
) -> None:
    five = asyncio.gather(*(made(worktrees, web) for _ in range(5)))
    while not five.done():
        assert (await worktrees.look())[1] == []
        await asyncio.sleep(0.001)  # an empty list is looked at without giving way
    assert {worktree.name for worktree in await five} == {"fix", *(f"fix-{n}" for n in range(2, 6))}


async def test_undoing_keeps_a_branch_that_somebody_has_committed_to(
    worktrees: Worktrees, web: Path
) -> None:
    worktree = await made(worktrees, web)
    precious = commit(worktree.directory, precious="x")
    await worktrees.undo(worktree)
    assert git(web, "rev-parse", "claude/fix") == precious


async def test_nothing_is_made_where_the_log_cannot_be_written(
    worktrees: Worktrees, web: Path, log: EventLog
) -> None:
    await log.__aexit__(None, None, None)
    with pytest.raises(SessionsError):
        await made(worktrees, web)
    assert not (web / ".claude").exists()
