from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from claude_sessions.config import load
from claude_sessions.setup.document import Changes, changed

EXAMPLE = Path(__file__).parents[2] / "config.example.toml"


def changes(name: str = "Ada", workdir: Path | None = None) -> Changes:
    token_file = Path("/somewhere/telegram.token")
    return Changes(name=name, account=5, token_file=token_file, workdir=workdir)


def test_the_example_with_all_its_comments_can_be_changed(tmp_path: Path) -> None:
    before = EXAMPLE.read_text()
    file = tmp_path / "config.toml"
    file.write_text(changed(before, changes()))
    settings = load(file, environ={}).settings
    assert [person.telegram for person in settings.people] == [5]
    lost = set(before.splitlines()) - set(file.read_text().splitlines())
    assert [line.split(" = ")[0] for line in lost] == ["token_file"]


@pytest.mark.parametrize(
    "people",
    [
        '[[people]]\nname = "Bob"  # a friend\nrole = "viewer"\n',
        'people = [\n  { name = "Bob", role = "viewer" },  # a friend\n]\n',
    ],
    ids=["blocks", "list"],
)
def test_somebody_new_is_added_as_admin(people: str) -> None:
    text = changed(people + '\n[log]\nlevel = "debug"\n', changes())
    assert "# a friend" in text
    assert tomllib.loads(text)["people"] == [
        {"name": "Bob", "role": "viewer"},
        {"name": "Ada", "role": "admin", "telegram": 5},
    ]


def test_somebody_known_keeps_name_and_role() -> None:
    text = changed('[[people]]\nname = "ADA"\nrole = "viewer"\ntelegram = 4\n', changes())
    assert tomllib.loads(text)["people"] == [{"name": "ADA", "role": "viewer", "telegram": 5}]


def test_a_token_in_the_file_gives_way_to_the_file_of_its_own() -> None:
    text = changed('telegram.token = "1:a"\ntelegram.topics = "off"\n', changes())
    telegram = {"topics": "off", "token_file": "/somewhere/telegram.token"}
    assert tomllib.loads(text)["telegram"] == telegram


def test_a_directory_in_the_home_is_written_as_one() -> None:
    text = changed("", changes(workdir=Path.home() / "code"))
    assert tomllib.loads(text)["sessions"] == {"workdirs": ["~/code"]}


def test_a_name_needs_no_care() -> None:
    name = 'Ada "the first" \\ Lovelace'
    text = changed("", changes(name))
    assert tomllib.loads(text)["people"][0]["name"] == name
