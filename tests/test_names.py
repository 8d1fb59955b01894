"""What a session is called that nobody gave a name."""

from __future__ import annotations

import pytest

from claude_sessions.model import NAME, name_from


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Fix the auth bug in the login", "fix-auth-bug"),
        ("Größe über älteren Café-Stühlen", "grosse-uber-alteren"),
        ("Исправь это", "session"),
        ("🎉", "session"),
        ("", "session"),
    ],
)
def test_it_has_the_first_words_that_say_something_as_far_as_a_name_can(
    prompt: str, name: str
) -> None:
    assert name_from(prompt) == name
    assert NAME.fullmatch(name)
