from __future__ import annotations

import pytest

from claude_sessions.telegram.render import Rich, from_markdown
from tests.telegram.rules import broken


def test_a_link_leads_where_it_should() -> None:
    rich = from_markdown("see [the *docs*](https://a.org/b_c?d=e#f)!")
    assert rich.text == "see the docs!"
    assert [entity.url for entity in rich.entities] == ["https://a.org/b_c?d=e#f", None]
    assert broken(rich) == []


@pytest.mark.parametrize(
    "href",
    [
        "javascript:alert(1)", "tg://user?id=1", "src/app.py", "#part", "mailto:a@b.org", "file:///a",
        "http://localhost:3000", "http://", "https://a.org:99999/", "https://[::1", "//a.org",
    ],
)  # fmt: skip
def test_other_addresses_are_only_shown(href: str) -> None:
    assert from_markdown(f"[text](<{href}>)") == Rich(text=f"text ({href})")


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("paypal.com", "https://evil.org"),
        ("https://a.org/x", "https://a.org/y"),
        ("go to www.a.org now", "https://b.org"),
        ("a.org", "https://a.org@b.org"),
        ("a.org", "https://a.org.b.org"),
        ("pay\u200bpal.com", "https://evil.org"),
        ("paypal。com", "https://evil.org"),
        ("**paypal**.com", "https://evil.org"),
        ("README.md", "https://evil.org/README.md"),
    ],
)
def test_a_text_that_names_another_address_shows_the_real_one(text: str, href: str) -> None:
    rich = from_markdown(f"[{text}]({href})")
    assert rich.text.endswith(f" ({href})")
    assert [entity for entity in rich.entities if entity.url] == []


@pytest.mark.parametrize("text", ["a.org", "www.a.org", "https://a.org/docs", "app.json", "v1.2"])
def test_a_text_that_names_its_own_address_is_a_link(text: str) -> None:
    assert (
        from_markdown(f"[{text}](https://a.org/docs/x)").entities[0].url == "https://a.org/docs/x"
    )


@pytest.mark.parametrize("text", ["https://a.org/b", "<https://a.org/b>", "<me@a.org>", "a.org"])
def test_bare_addresses_are_left_to_telegram(text: str) -> None:
    assert from_markdown(text) == Rich(text=text.strip("<>"))


def test_a_link_of_nothing_shows_its_address() -> None:
    assert from_markdown("[](https://a.org)") == Rich(text="https://a.org")


def test_names_in_other_scripts_are_written_for_machines() -> None:
    assert from_markdown("[a](https://bücher.example/ä)").entities[0].url == (
        "https://xn--bcher-kva.example/%C3%A4"
    )


def test_code_in_a_link_is_its_text() -> None:
    rich = from_markdown("[`foo()`](https://a.org)")
    assert rich.text == "foo()"
    assert [entity.type for entity in rich.entities] == ["text_link"]


def test_pictures_are_links() -> None:
    rich = from_markdown("![a *b*](https://c.org/d.png) ![](e.png)")
    assert rich.text == "🖼 a b 🖼 image (e.png)"
    assert [entity.url for entity in rich.entities] == ["https://c.org/d.png"]


def test_a_picture_in_a_link_is_the_links_text() -> None:
    rich = from_markdown("[![badge](https://b.org/x.svg)](https://a.org)")
    assert rich.text == "🖼 badge"
    assert [entity.url for entity in rich.entities] == ["https://a.org"]
