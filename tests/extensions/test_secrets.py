"""What was given as a secret is never said again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions.extensions.secrets import address, in_address, struck
from claude_sessions.logs import STRUCK
from tests.effort import effort

SAID = {
    "Authorization: Bearer hush": f"Authorization: {STRUCK}",
    "X-Api-Key: hush": f"X-Api-Key: {STRUCK}",
    '{"token": "hush hush"}': f'{{"token": {STRUCK}}}',
    "MY_API_KEY=hush node x.js": f"MY_API_KEY={STRUCK} node x.js",
    "npx it --auth-token hush --level 3": f"npx it --auth-token {STRUCK} --level 3",
    "npx it --password=hush": f"npx it --password={STRUCK}",
    "clone https://u:hush@git.example/x failed": f"clone https://{STRUCK}@git.example/x failed",
    "it uses sk-hush-hush-hush": f"it uses {STRUCK}",
    "at https://h.example/s/a1b2c3d4e5f6a7b8c9d0e1f2/mcp": f"at https://h.example/s/{STRUCK}/mcp",
    "the monkey: eats": "the monkey: eats",
    "1200 tokens: none left": "1200 tokens: none left",
}


@pytest.mark.parametrize("text", SAID)
def test_what_looks_like_a_secret_is_struck_out(text: str) -> None:
    assert struck(text) == SAID[text]
    assert struck(struck(text)) == SAID[text]


def test_what_is_known_to_be_secret_is_struck_out_wherever_it_stands() -> None:
    said = struck("it said hush1, Basic dXNlcg== and a", ["hush1", "Basic dXNlcg==", "a"])
    assert said == f"it said {STRUCK}, {STRUCK} and {STRUCK}"
    assert struck("dXNlcg== was wrong", ["Basic dXNlcg=="]) == f"{STRUCK} was wrong"
    assert struck(r'"X": "hu\"sh\\1"', ['hu"sh\\1']) == f'"X": "{STRUCK}"'  # as JSON writes it
    assert struck("a cat", ["a"]) == f"{STRUCK} cat"  # not the a of the cat


def test_an_address_keeps_its_host_and_path() -> None:
    url = "https://u:hush@h.example:8080/mcp?token=hush2&q=hush3#top"
    assert address(url) == f"https://{STRUCK}@h.example:8080/mcp?token={STRUCK}&q={STRUCK}#top"
    assert in_address(url) == ("u", "hush", "hush2", "hush3")
    assert address("https://h.example/mcp") == "https://h.example/mcp"
    assert address("owner/repo") == "owner/repo"
    assert in_address("https://[::1") == ()


SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=20)


@settings(deadline=None)
@given(st.text(max_size=30), SECRETS.filter(lambda one: one not in STRUCK), st.text(max_size=30))
def test_a_known_secret_never_stays(before: str, secret: str, after: str) -> None:
    assert secret not in struck(before + secret + after, [secret]).replace(STRUCK, "\0")


@pytest.mark.parametrize("piece", ["a", "a-", "--", "key", "token=", "://", "/1a", "'", "= "])
def test_long_texts_are_read_in_little_time(piece: str) -> None:
    assert effort(lambda: struck(piece * (200_000 // len(piece)))) < 100
