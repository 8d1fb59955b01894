"""What git knows of a directory, whatever state the directory is in and whoever made it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from itertools import accumulate
from pathlib import Path

import psutil
import pytest

from claude_sessions.repository import AT_ONCE, Facts, Onlooker
from tests.repositories import git, repository


@pytest.fixture
def asked(tmp_path: Path) -> Onlooker:
    home = tmp_path / "home"
    home.mkdir()
    return Onlooker({"HOME": str(home), "PATH": os.environ["PATH"]})


async def test_branch_and_dirt_and_remote_are_found(asked: Onlooker, tmp_path: Path) -> None:
    web = repository(tmp_path / "web", "idea")
    git(web, "remote", "add", "other", "https://example.invalid/other.git")
    git(web, "remote", "add", "origin", "https://me:secret@example.invalid/web.git")
    clean = await asked.facts(str(web))
    assert clean == Facts(branch="idea", dirty=False, remote="https://example.invalid/web.git")
    (web / "readme").write_text("changed")
    assert (await asked.facts(str(web))).at == "idea*"


async def test_a_new_file_makes_it_dirty_and_an_ignored_one_does_not(
    asked: Onlooker, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    (web / ".git" / "info" / "exclude").write_text("*.log\n")
    (web / "x.log").touch()
    assert (await asked.facts(str(web))).dirty is False
    (web / "new").touch()
    assert (await asked.facts(str(web))).dirty is True


async def test_without_a_commit_or_a_remote_the_rest_is_still_known(
    asked: Onlooker, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch", "main", "fresh")
    assert await asked.facts(str(tmp_path / "fresh")) == Facts(branch="main", dirty=False)


async def test_a_detached_head_is_its_short_hash(asked: Onlooker, tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    git(web, "checkout", "--quiet", "--detach")
    facts = await asked.facts(str(web))
    assert (facts.branch, facts.dirty) == (git(web, "rev-parse", "--short", "HEAD"), False)


async def test_a_directory_inside_a_repository_is_judged_by_itself(
    asked: Onlooker, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    (web / "part").mkdir()
    (web / "new").touch()
    assert await asked.facts(str(web / "part")) == Facts(branch="main", dirty=False)


async def test_outside_of_repositories_and_without_git_nothing_is_known(
    asked: Onlooker, tmp_path: Path
) -> None:
    assert await asked.facts(str(tmp_path)) == Facts()
    assert await asked.facts(str(tmp_path / "gone")) == Facts()
    web = repository(tmp_path / "web")
    assert await Onlooker({"PATH": str(tmp_path)}).facts(str(web)) == Facts()


async def test_a_broken_repository_is_no_failure(asked: Onlooker, tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    (web / ".git" / "HEAD").write_text("nonsense")
    assert await asked.facts(str(web)) == Facts()


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """A repository whose configuration runs a program wherever git lets it, and its trace."""
    web = repository(tmp_path / "web")
    trace, program = tmp_path / "was-here", tmp_path / "evil"
    program.write_text(f"#!/bin/sh\necho \"$0\" >> '{trace}'\ncat\n")
    program.chmod(0o755)
    evil = str(program)
    for key in ("filter.a.clean", "filter.a.process", "filter.b=c.clean", "core.fsmonitor"):
        git(web, "config", key, evil)
    git(web, "config", "filter.b=c.required", "true")
    git(web, "config", "core.pager", evil)
    hooks = web / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").symlink_to(program)
    (web / ".gitattributes").write_text("readme filter=a\nother filter=b=c\n")
    (web / "readme").write_text("READ ME\n")  # as long as before: only its content tells
    return web, trace


async def test_a_hostile_repository_runs_nothing(
    asked: Onlooker, hostile: tuple[Path, Path]
) -> None:
    web, trace = hostile
    facts = await asked.facts(str(web))
    assert (facts.branch, facts.dirty) == ("main", True)
    assert not trace.exists()
    git(web, "-c", "core.hooksPath=/dev/null", "status")
    assert trace.exists()  # git by itself would have


async def test_a_hostile_submodule_runs_nothing(
    asked: Onlooker, hostile: tuple[Path, Path], tmp_path: Path
) -> None:
    web, trace = hostile
    outer = repository(tmp_path / "outer")
    web.rename(outer / "sub")
    git(outer, "-c", "core.fsmonitor=false", "update-index", "--add", "--cacheinfo",
        f"160000,{(outer / 'sub/.git/refs/heads/main').read_text().strip()},sub")  # fmt: skip
    assert (await asked.facts(str(outer))).branch == "main"
    assert not trace.exists()


async def test_no_missing_object_is_fetched(asked: Onlooker, tmp_path: Path) -> None:
    trace, program = tmp_path / "was-here", tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch '{trace}'\nexit 1\n")
    program.chmod(0o755)
    part = repository(tmp_path / "part")
    tree = git(part, "rev-parse", "HEAD^{tree}")
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "far",
        "remote.far.promisor": "true",
        "remote.far.url": str(tmp_path),
        "remote.far.uploadpack": str(program),
    }.items():
        git(part, "config", key, value)
    (part / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    assert (await asked.facts(str(part))).branch == "main"
    assert not trace.exists()
    with pytest.raises(subprocess.CalledProcessError):
        git(part, "status")
    assert trace.exists()  # git by itself would have


def other_git(directory: Path, script: str) -> dict[str, str]:
    """An environment in which git is this script."""
    directory.mkdir()
    (directory / "git").write_text(f"#!/bin/sh\n{script}\n")
    (directory / "git").chmod(0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}", "GIT_DIR": "/elsewhere", "SECRET": "x"}


async def test_git_gets_a_clean_environment_and_takes_no_locks(tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    seen = tmp_path / "seen"
    await Onlooker(other_git(tmp_path / "bin", f"env >> '{seen}'")).facts(str(web))
    told = seen.read_text().splitlines()
    assert "GIT_OPTIONAL_LOCKS=0" in told
    assert not any(line.startswith(("GIT_DIR=", "SECRET=")) for line in told)


async def test_only_a_few_run_at_once(tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    seen = tmp_path / "seen"
    script = f"echo 1 >> '{seen}'; sleep 0.02; echo -1 >> '{seen}'"
    asked = Onlooker(other_git(tmp_path / "bin", script))
    await asyncio.gather(*(asked.facts(str(web)) for _ in range(8)))
    steps = [int(step) for step in seen.read_text().split()]
    assert len(steps) > 2 * AT_ONCE
    assert max(accumulate(steps)) <= AT_ONCE


async def test_git_that_does_not_come_back_is_ended(tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    pids = tmp_path / "pids"
    slow = other_git(tmp_path / "bin", f"echo $$ >> '{pids}'\nexec sleep 600")
    asked = Onlooker(slow, seconds=0.5)
    assert await asked.facts(str(web)) == Facts()
    assert not any(psutil.pid_exists(int(pid)) for pid in pids.read_text().split())


async def test_a_pipe_where_git_looks_for_a_file_costs_only_that_fact(tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    os.mkfifo(web / ".gitignore")
    asked = Onlooker({"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, seconds=1)
    facts = await asked.facts(str(web))
    assert facts.branch == "main"


async def test_asking_blocks_nobody_else(asked: Onlooker, tmp_path: Path) -> None:
    web = repository(tmp_path / "web")
    asking = asyncio.gather(*(asked.facts(str(web)) for _ in range(20)))
    turns = 0
    while not asking.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 100
    assert {facts.at for facts in await asking} == {"main"}
