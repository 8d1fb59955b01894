"""Finding the daemon, and not sending its token to somebody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.client.address import Given, locate
from claude_sessions.client.exits import Exit, Failed
from claude_sessions.errors import ConfigError

TOKEN = "t" * 40


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "gateway.url").write_text("http://127.0.0.1:42069\n")
    write(tmp_path / "gateway.token", TOKEN)
    return tmp_path


def write(file: Path, token: str) -> Path:
    file.touch(0o600)
    file.write_text(token)
    return file


def test_the_home_says_both(home: Path) -> None:
    address = locate(Given(home=home), {})
    assert (address.url, address.token) == ("http://127.0.0.1:42069", TOKEN)
    assert address.socket == "ws://127.0.0.1:42069"


def test_a_token_that_fits_no_header_is_not_quoted(home: Path) -> None:
    for token in ("secret\nsecret", "sécret"):
        with pytest.raises(Failed, match="holds no token") as refused:
            locate(Given(home=home), {"CLAUDE_SESSIONS_TOKEN": token})
        assert refused.value.exit is Exit.UNAUTHORISED
        assert "cret" not in str(refused.value)


def test_a_token_file_is_named_as_it_was_given(home: Path) -> None:
    with pytest.raises(ConfigError, match="correct --token-file"):
        locate(Given(home=home, token_file=home / "nothing"), {})


def test_what_is_typed_wins_over_the_environment_and_that_over_the_home(home: Path) -> None:
    environ = {"CLAUDE_SESSIONS_URL": "http://[::1]:1/", "CLAUDE_SESSIONS_TOKEN": "e" * 40}
    address = locate(Given(home=home), environ)
    assert (address.url, address.token) == ("http://[::1]:1", "e" * 40)
    typed = Given(home=home, url="http://localhost:2", token_file=write(home / "own", "o" * 40))
    address = locate(typed, environ)
    assert (address.url, address.token) == ("http://localhost:2", "o" * 40)


def test_without_a_daemon_it_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="Start it: claude-sessions run") as refused:
        locate(Given(home=tmp_path), {})
    assert refused.value.exit is Exit.AWAY


@pytest.mark.parametrize("url", ["https://elsewhere.example", "http://10.0.0.1:42069"])
def test_this_machine_s_token_is_sent_to_no_other(url: str, home: Path) -> None:
    with pytest.raises(Failed, match="is not sent to") as refused:
        locate(Given(home=home, url=url), {})
    assert refused.value.exit is Exit.UNAUTHORISED
    assert locate(Given(home=home, url=url), {"CLAUDE_SESSIONS_TOKEN": TOKEN}).token == TOKEN


def test_the_daemon_of_this_home_gets_its_token_at_whatever_address_it_has(home: Path) -> None:
    (home / "gateway.url").write_text("http://10.0.0.1:42069\n")
    assert locate(Given(home=home), {}).token == TOKEN


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:42069",
        "ftp://127.0.0.1",
        "http://",
        "http://a:b",
        "http://localhost/a b",
        "http://localhost/für",
    ],
)
def test_what_is_no_address_is_said_to_be_none(url: str, home: Path) -> None:
    with pytest.raises(Failed, match="is no address") as refused:
        locate(Given(home=home, url=url), {})
    assert refused.value.exit is Exit.USAGE


def test_a_token_that_others_can_read_is_not_used(home: Path) -> None:
    (home / "gateway.token").chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        locate(Given(home=home), {})


def test_a_missing_token_is_named(home: Path) -> None:
    (home / "gateway.token").unlink()
    with pytest.raises(Failed, match=r"gateway.token does not exist") as refused:
        locate(Given(home=home), {})
    assert refused.value.exit is Exit.UNAUTHORISED
