from __future__ import annotations

from pathlib import Path

from telegram import User

from claude_sessions.model import Role
from claude_sessions.settings import PersonSettings
from claude_sessions.setup.choices import directory, likely_name, problem_with
from claude_sessions.setup.listening import describe

ADA = User(id=7, first_name="Ada", is_bot=False, last_name="Lovelace", username="ada")


def person(name: str, telegram: int | None = None) -> PersonSettings:
    return PersonSettings(name=name, role=Role.ADMIN, telegram=telegram)


def test_the_name_offered_is_the_likely_one() -> None:
    assert likely_name([], ADA) == "Ada"
    assert likely_name([person("me")], ADA) == "me"
    assert likely_name([person("me", 8)], ADA) == "Ada"
    assert likely_name([person("me"), person("Countess", 7)], ADA) == "Countess"


def test_an_account_has_one_person_and_a_name_can_be_seen() -> None:
    assert problem_with("Ada", [person("ada", 7)], ADA) is None
    refusal = problem_with("Bob", [person("Ada", 7)], ADA)
    assert refusal == "This account is Ada's already: choose Ada."
    assert all(problem_with(name, [], ADA) for name in ("", "x" * 65, "A\u202eda"))


def test_an_account_is_described_so_that_a_person_can_tell() -> None:
    assert describe(ADA) == "Ada Lovelace (@ada, id 7)"


def test_only_a_directory_will_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert directory(str(tmp_path)) == tmp_path
    for answer in (str(tmp_path / "file"), "~nobody-at-all/code", "a\0b", "x" * 5000):
        assert directory(answer) is None
