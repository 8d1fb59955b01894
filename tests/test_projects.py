"""Where projects come from, and how they are found by name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from claude_sessions import events as e
from claude_sessions.clock import ManualClock
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.eventlog import EventLog
from claude_sessions.projects import FRESH_SECONDS, Projects
from claude_sessions.repository import Facts, Onlooker
from tests.repositories import repository


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with EventLog(tmp_path / "log.db", runner="test") as events:
        yield events


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def made(log: EventLog, clock: ManualClock, home: Path, **given: Any) -> Projects:
    settings: dict[str, Any] = {"roots": (), "exclude": (), "transcripts": None, **given}
    git = Onlooker({"HOME": str(home), "PATH": os.environ["PATH"]})
    return Projects(log=log, git=git, clock=clock, **settings)


def directories(root: Path, *names: str) -> list[Path]:
    for name in names:
        (root / name).mkdir(parents=True)
    return [root / name for name in names]


def worked_in(home: Path, directory: str, number: int = 1) -> Transcripts:
    """As Claude leaves it behind; that the real CLI does so is tested with the transcripts."""
    place = home / ".claude" / "projects" / "-x"
    place.mkdir(parents=True, exist_ok=True)
    line = {"type": "user", "cwd": directory, "uuid": "u", "message": {"content": "go"}}
    file = place / f"{number:08}-0000-4000-8000-000000000000.jsonl"
    file.write_bytes(orjson.dumps(line) + b"\n")
    return Transcripts({"HOME": str(home)})


async def born(log: EventLog, session: str, directory: Path) -> None:
    created = e.SessionCreated(project_id="p", name=session, directory=str(directory))
    await log.append(e.Draft(payload=created, session=session))


async def names(projects: Projects) -> list[str]:
    return [project.name for project in await projects.all()]


async def test_children_of_roots_are_projects_and_their_children_are_not(
    log: EventLog, clock: ManualClock, tmp_path: Path
) -> None:
    directories(tmp_path / "src", "api", "web/inner", ".cache")
    (tmp_path / "src" / "file").touch()
    projects = made(log, clock, tmp_path, roots=(tmp_path / "src", tmp_path / "gone"))
    assert sorted(await names(projects)) == ["api", "web"]


async def test_where_claude_worked_and_where_sessions_ran_are_projects_if_they_still_exist(
    log: EventLog, clock: ManualClock, tmp_path: Path
) -> None:
    tool, web = directories(tmp_path, "my tool_x", "web")
    worked_in(tmp_path, str(tool))
    worked_in(tmp_path, str(tmp_path / "gone"), 2)
    worked_in(tmp_path, "relative", 3)
    transcripts = worked_in(tmp_path, "/nul\0byte", 4)
    await born(log, "one", web)
    await born(log, "two", web)
    await born(log, "three", tmp_path / "also-gone")
    projects = made(log, clock, tmp_path, transcripts=transcripts)
    found = {project.name: project for project in await projects.all()}
    assert found.keys() == {"my tool_x", "web"}
    assert [found[name].sessions for name in ("web", "my tool_x")] == [2, 0]
    assert found["web"].id == hashlib.sha256(str(web).encode()).hexdigest()[:16]
    assert found["my tool_x"].last_used is not None


async def test_the_one_used_last_comes_first_and_the_unused_last(
    log: EventLog, clock: ManualClock, tmp_path: Path
) -> None:
    _, old, new = directories(tmp_path / "src", "unused", "old", "new")
    transcripts = worked_in(tmp_path, str(new))
    file = next((tmp_path / ".claude" / "projects" / "-x").iterdir())
    await born(log, "one", old)
    used = (await log.session_rows())[0].updated_at
    later = (used + timedelta(hours=1)).timestamp()
    os.utime(file, (later, later))
    projects = made(log, clock, tmp_path, roots=(tmp_path / "src",), transcripts=transcripts)
    assert await names(projects) == ["new", "old", "unused"]


async def test_excluded_names_are_never_projects(
    log: EventLog, clock: ManualClock, tmp_path: Path
) -> None:
    root = tmp_path / "old-things"
    directories(root, "web", "old-web", "node_modules")
    deep = directories(tmp_path, "site/node_modules/pkg")[0]
    transcripts = worked_in(tmp_path, str(deep))
    exclude = ("node_modules", "old-*")
    projects = made(log, clock, tmp_path, roots=(root,), exclude=exclude, transcripts=transcripts)
    assert await names(projects) == ["web"]  # a root is chosen, whatever it is called


async def test_a_directory_is_one_project_whatever_links_lead_to_it(
    log: EventLog, clock: ManualClock, tmp_path: Path
) -> None:
    web = directories(tmp_path, "web", "src")[0]
    (tmp_path / "src" / "link").symlink_to(web)
    await born(log, "one", web)
    projects = made(log, clock, tmp_path, roots=(tmp_path / "src",))
    assert [(p.path, p.sessions) for p in await projects.all()] == [(str(web), 1)]


async def test_a_project_is_found_by_id_by_name_and_in_any_case(
    log: EventLog, clock: ManualClock, tmp_path: Path
) -> None:
    directories(tmp_path / "a", "Web", "api")
    directories(tmp_path / "b", "api", "API")
    projects = made(log, clock, tmp_path, roots=(tmp_path / "a", tmp_path / "b"))
    (web,) = await projects.named("web")
    assert (web.name, await projects.named(web.id)) == ("Web", [web])
    assert [p.path for p in await projects.named("API")] == [str(tmp_path / "b" / "API")]
    assert len(await projects.named("api")) == 2
    assert await projects.named("nothing") == []


async def test_a_repository_that_is_slow_to_answer_holds_nobody_up(
    log: EventLog, clock: ManualClock, tmp_path: Path
) -> None:
    web = repository(tmp_path / "web")
    projects = made(log, clock, tmp_path)
    assert await projects.glance(str(web), 0) == Facts()
    assert (await projects.glance(str(web), 20)).branch == "main"


async def test_what_git_knows_is_asked_again_after_a_while(
    log: EventLog, clock: ManualClock, tmp_path: Path
) -> None:
    web = repository(tmp_path / "src" / "web")
    (web / ".claude").mkdir()
    projects = made(log, clock, tmp_path, roots=(tmp_path / "src",))
    (first,) = await projects.with_facts(await projects.all())
    assert (first.branch, first.dirty, first.remote) == ("main", False, None)
    assert first.has_claude_config
    (web / "new").touch()
    clock.advance(FRESH_SECONDS - 1)
    assert (await projects.facts(str(web))).dirty is False
    clock.advance(1)
    assert (await projects.facts(str(web))).dirty is True
