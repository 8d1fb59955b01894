import os
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox, Script, ScriptedModel, bash, say
from tests.demo.talk import talking


def test_nothing_of_the_machines_environment_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Sandbox(tmp_path, "http://127.0.0.1:1").env
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the real one")
    monkeypatch.setenv("HOME", "/somewhere/else")
    assert Sandbox(tmp_path, "http://127.0.0.1:1").env == before


def test_extra_variables_win(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, "http://127.0.0.1:1", extra={"CLAUDE_CODE_MAX_RETRIES": "0"})
    assert sandbox.env["CLAUDE_CODE_MAX_RETRIES"] == "0"


def test_a_home_that_is_there_is_kept(tmp_path: Path) -> None:
    Sandbox(tmp_path, "http://127.0.0.1:1")
    settings = tmp_path / "home" / ".claude.json"
    settings.write_text("{}")
    Sandbox(tmp_path, "http://127.0.0.1:2")
    assert settings.read_text() == "{}"


async def test_the_cli_and_its_tools_see_the_sandbox_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_OF_THE_MACHINE", "x")
    script = Script().on("go", bash("env > env.txt"), say("done"))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        await talk.turn("go")
    seen = (tmp_path / "work" / "env.txt").read_text()
    assert f"HOME={tmp_path / 'home'}\n" in seen
    assert "CLAUDE_CODE_ENTRYPOINT=sdk-py\n" in seen
    assert "A_SECRET_OF_THE_MACHINE" not in seen
    assert os.environ["PATH"] not in seen
    assert model.requests[0].auth == "x-api-key"
