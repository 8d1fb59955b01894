"""What may be given to the claude program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.errors import BadRequest
from claude_sessions.extensions import asked
from claude_sessions.extensions.extensions import NewServer
from claude_sessions.model import Transport

NAMES = (asked.plugin, asked.marketplace, asked.new_server, asked.server, asked.source, asked.url)


@pytest.mark.parametrize("check", NAMES)
@pytest.mark.parametrize("given", ["", "-x", "--scope=user", " ", "a\nb", "a\0b", "x" * 9_000])
def test_nothing_can_be_taken_for_an_option(check: Callable[[str], str], given: str) -> None:
    with pytest.raises(BadRequest):
        check(given)


@given(st.text(max_size=40), st.sampled_from(NAMES))
def test_what_passes_is_given_as_it_is(text: str, check: Callable[[str], str]) -> None:
    with suppress(BadRequest):
        assert check(text) == text
        assert not text.startswith("-")


@pytest.mark.parametrize(
    "source",
    ["owner/repo", "owner/repo#v1", "https://git.example/x.git", "git@git.example:team/x.git"],
)
def test_a_marketplace_comes_from_the_net(source: str) -> None:
    assert asked.source(source) == source


@pytest.mark.parametrize(
    "source",
    ["ext::sh -c date", "file:///etc", "https://-x/y", "git@h:-x", "a/b/c", "one", "owner/-x"],
)
def test_a_marketplace_that_could_run_something_is_refused(source: str) -> None:
    with pytest.raises(BadRequest, match="comes from"):
        asked.source(source)


def test_a_new_server_is_a_list_of_arguments() -> None:
    new = NewServer(
        name="tiny",
        transport=Transport.STDIO,
        command="npx",
        arguments=("-y", "it", "--", "--flag"),
        env={"A": "1", "B": "-x y"},
    )
    assert new.words() == [
        *("--transport=stdio", "--env=A=1", "--env=B=-x y"),
        *("--", "tiny", "npx", "-y", "it", "--", "--flag"),
    ]
    far = NewServer(name="far", transport=Transport.SSE, url="https://h/x", headers={"X-A": "b c"})
    assert far.words() == ["--transport=sse", "--header=X-A: b c", "--", "far", "https://h/x"]


@pytest.mark.parametrize(
    "new",
    [
        NewServer(name="-x", transport=Transport.STDIO, command="npx"),
        NewServer(name="x", transport=Transport.STDIO, command="-npx"),
        NewServer(name="x", transport=Transport.STDIO, command=""),
        NewServer(name="x", transport=Transport.STDIO, command="a", arguments=("\0x",)),
        NewServer(name="x", transport=Transport.STDIO, command="a", arguments=("b",) * 101),
        NewServer(name="x", transport=Transport.STDIO, command="a", env={"-x": "hush"}),
        NewServer(name="x", transport=Transport.STDIO, command="a", env={"A": "hush\0"}),
        NewServer(name="x", transport=Transport.STDIO, command="a", env={"A": "hush" * 3_000}),
        NewServer(name="x", transport=Transport.HTTP, url="file:///etc/passwd"),
        NewServer(name="x", transport=Transport.HTTP, url="https://h", headers={"A b": "hush"}),
        NewServer(name="x", transport=Transport.HTTP, url="https://h", headers={"A": "hush\nB:c"}),
    ],
)
def test_a_server_that_makes_no_sense_is_refused_without_saying_its_secrets(new: NewServer) -> None:
    with pytest.raises(BadRequest) as refusal:
        new.words()
    assert "hush" not in str(refusal.value)
    assert "hush" not in repr(new)


@pytest.mark.parametrize("answer", ["", "code=1", "http://h/ x", "http://h/\x03", "http://h/é"])
def test_an_answer_to_a_login_is_an_address_and_no_keys(answer: str) -> None:
    with pytest.raises(BadRequest, match="no address"):
        asked.answer(answer)
