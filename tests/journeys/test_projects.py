"""Projects by name: listed, started in, refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from claude_sessions.channel import Action
from claude_sessions.demo import Sandbox
from claude_sessions.model import Role
from claude_sessions.settings import Settings
from tests.journeys.chat import Chat, chatting
from tests.repositories import repository
from tests.terminal_claude import bare_claude


@pytest.fixture
def src(tmp_path: Path) -> Path:
    return tmp_path / "src"


@pytest.fixture
async def chat(sandbox: Sandbox, workdir: Path, src: Path) -> AsyncIterator[Chat]:
    """Sessions may run in `workdir` and `src`, and what is in `src` and `far` are projects."""
    roots = [src, src.parent / "far"]
    sessions = {"default_workdir": workdir, "workdirs": [workdir, src], "pass_env": ("*",)}
    given = {
        "sessions": sessions,
        "projects": {"roots": roots},
        "gateway": {"enabled": False},
    }
    async with chatting(sandbox, workdir, settings=Settings.model_validate(given)) as owner:
        yield owner


async def test_projects_are_listed_with_branch_use_and_sessions(chat: Chat, src: Path) -> None:
    web = repository(src / "web")
    (web / "new").touch()
    (src / "plain").mkdir()
    await chat.type("/new --name fix --dir web fix it")
    await chat.idle("fix")
    reply = await chat.reply("/projects")
    first, second, *_ = reply.text.splitlines()
    assert first.split() == ["web", "main*", "just", "now", "1", "session"]
    assert second.split() == ["plain", "not", "used", "yet"]
    assert reply.data["projects"][0]["gitBranch"] == "main"
    wanted = reply.data["projects"][0]["id"]
    new = Action(label="New in web", line=f"/new --dir {wanted} ", needs_text=True)
    assert reply.actions[0] == new


async def test_the_button_of_a_project_starts_a_session_there(chat: Chat, src: Path) -> None:
    (src / "web").mkdir(parents=True)
    button = (await chat.reply("/projects")).actions[0]
    await chat.type(f"{button.line}say something")
    assert (await chat.idle("say-something")).spec.directory == str(src / "web")


async def test_a_text_narrows_the_list(chat: Chat, src: Path) -> None:
    for name in ("web-one", "web-two", "api"):
        (src / name).mkdir(parents=True)
    assert "api" not in await chat.type("/projects WEB")
    assert "No projects" in await chat.type("/projects nowhere")


async def test_what_may_not_be_started_in_is_marked_and_has_no_button(
    chat: Chat, tmp_path: Path
) -> None:
    (tmp_path / "far" / "shut").mkdir(parents=True)
    reply = await chat.reply("/projects")
    assert "🔒 shut" in reply.text
    assert "[sessions] workdirs" in reply.text
    assert reply.actions == ()
    assert "outside the allowed directories" in await chat.type("/new --dir shut go")


async def test_where_claude_was_run_in_a_terminal_is_a_project(
    chat: Chat, sandbox: Sandbox, src: Path
) -> None:
    place = src / "deep" / "odd dir_x"
    place.mkdir(parents=True)
    await bare_claude(sandbox, place, "-p", "hello")
    assert "odd dir_x  just now" in await chat.type("/projects")


async def test_a_path_under_the_default_directory_wins_over_a_project(
    chat: Chat, src: Path, workdir: Path
) -> None:
    (src / "web").mkdir(parents=True)
    (workdir / "web").mkdir()
    await chat.type("/new --name one --dir web go")
    assert (await chat.state("one")).spec.directory == str(workdir / "web")


async def test_a_name_that_fits_several_is_refused_with_the_paths(
    chat: Chat, src: Path, tmp_path: Path
) -> None:
    for place in (src, tmp_path / "far"):
        (place / "web").mkdir(parents=True)
    told = await chat.type("/new --dir web go")
    assert "2 projects are called web" in told
    assert f"--dir {src / 'web'}" in told
    await chat.type(f"/new --name one --dir {src / 'web'} go")
    assert (await chat.state("one")).spec.directory == str(src / "web")


async def test_an_unknown_name_is_told_as_a_path_that_does_not_exist(chat: Chat) -> None:
    assert "does not exist" in await chat.type("/new --dir nowhere go")
    assert "does not exist" in await chat.type("/new --dir ./web go")


async def test_rules_and_resumes_take_a_project_too(chat: Chat, src: Path) -> None:
    (src / "web").mkdir(parents=True)
    await chat.type("/rules add deny Read --dir web")
    assert [r.directory for r in chat.daemon.pool.rules.active()] == [str(src / "web")]
    await chat.type("/new --name one go")
    await chat.idle("one")
    await chat.type("/kill one")
    await chat.type("/resume --dir web one")
    assert (await chat.state("one")).spec.directory == str(src / "web")


async def test_a_launch_and_the_list_show_the_branch(chat: Chat, src: Path) -> None:
    web = repository(src / "web", "idea")
    assert "fix · web (idea) ·" in await chat.type("/new --name fix --dir web go")
    await chat.idle("fix")
    (web / "new").touch()
    assert "web (idea)" in await chat.type("/sessions")  # as git said a moment ago


async def test_a_viewer_may_see_the_projects(chat: Chat) -> None:
    assert "No projects" in await chat.somebody(Role.VIEWER).type("/projects")
