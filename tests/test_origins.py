from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.origins import UNKNOWN, Address, parts_of, resolve

MAP = {"/srv": "discord|all", "/srv/web/": "discord|web", "~/code": "slack|acct|C1"}


def test_the_argument_comes_before_the_caller_and_the_caller_before_the_map() -> None:
    assert resolve("discord|1", "console|local", "/srv/web", MAP, "slack|9") == "discord|1"
    assert resolve(None, "console|local", "/srv/web", MAP, "slack|9") == "console|local"
    assert resolve(None, None, "/srv/web", MAP, "slack|9") == "discord|web"
    assert resolve(None, None, "/elsewhere", MAP, "slack|9") == "slack|9"
    assert resolve(None, None, "/elsewhere", MAP, None) == UNKNOWN


@pytest.mark.parametrize("nothing", [None, "", "  ", UNKNOWN])
def test_what_names_no_channel_is_passed_over(nothing: str | None) -> None:
    assert resolve(nothing, nothing, "/elsewhere", {}, "discord|1") == "discord|1"
    assert resolve(nothing, nothing, "/elsewhere", {"/elsewhere": "unknown"}, nothing) == UNKNOWN


@pytest.mark.parametrize(
    ("directory", "channel"),
    [
        ("/srv/web", "discord|web"),
        ("/srv/web/", "discord|web"),
        ("/srv/web/deep/er", "discord|web"),
        ("/srv/website", "discord|all"),
        ("/srv", "discord|all"),
        ("/srvs", UNKNOWN),
        (str(Path.home() / "code" / "x"), "slack|acct|C1"),
    ],
)
def test_the_longest_directory_that_contains_it_wins(directory: str, channel: str) -> None:
    assert resolve(None, None, directory, MAP, None) == channel


def test_the_root_contains_everything() -> None:
    assert resolve(None, None, "/a/b", {"/": "discord|1"}, None) == "discord|1"
    assert resolve(None, None, "/", {"/": "discord|1"}, None) == "discord|1"


def test_a_bare_number_is_a_telegram_chat_wherever_it_stands() -> None:
    assert resolve("42", None, "/x", {}, None) == "telegram|42"
    assert resolve(None, None, "/x", {"/x": "-100123"}, None) == "telegram|-100123"
    assert resolve(None, None, "/y", {}, "7") == "telegram|7"


@pytest.mark.parametrize(
    ("channel_id", "address"),
    [
        ("discord|123", ("discord", None, "123")),
        ("discord|acct|123", ("discord", "acct", "123")),
        ("matrix|acct|!a|b|c", ("matrix", "acct", "!a|b|c")),
    ],
)
def test_an_address_is_a_channel_perhaps_an_account_and_the_rest(
    channel_id: str, address: tuple[str, str | None, str]
) -> None:
    channel, account, target = address
    assert parts_of(channel_id) == Address(channel=channel, account=account, target=target)


@pytest.mark.parametrize(
    "nowhere", ["", UNKNOWN, "gateway", "discord|", "|123", "discord||123", "discord|acct|", "||"]
)
def test_an_empty_part_or_a_single_one_is_no_address(nowhere: str) -> None:
    assert parts_of(nowhere) is None


@given(st.text(alphabet="a1|- ", max_size=12))
def test_what_is_resolved_names_a_channel_and_resolves_to_itself(text: str) -> None:
    once = resolve(text, None, "/x", {}, None)
    assert once.strip()
    assert resolve(once, None, "/x", {}, None) == once
