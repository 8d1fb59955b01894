"""Whatever is written, Telegram takes what we make of it, and nothing is lost."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.telegram.documents import SUMMARY_UNITS, summary
from claude_sessions.telegram.render import Rich, from_markdown, head, plain, split, tail, units
from tests.telegram.rules import INVISIBLE, broken

PIECES = st.sampled_from([
    "*", "**", "***", "_", "__", "~~", "`", "``", "```", "```python\n", "~~~\n", "\n", "\n\n", " ",
    "  ", "    ", "\t", "# ", "## ", "- ", "* ", "1. ", "9) ", "> ", ">", "- [ ] ", "- [x] ", "---",
    "|", "|a|b|\n|-|-:|\n", "|c|d|\n", "[", "](", ")", "!", "[a](https://b.org)", "(http://c)",
    "\\", "<", ">", "&amp;", "&#x202e;", "&#10;", "&nbsp;", "a", "word", "a.org", "https://d.org/e",
    "0", "👍", "👍🏽", "👩‍👩‍👧", "🇩🇪", "e\u0301", "漢字", "שלום", "ÿ", "\u200b", "\u200d", "\ufe0f",
    "\u030a", "\x00", "\x1b", "\r", "\r\n", "\u2028", "\u202e", "\ud83d", "\udc4d", "\x85",
    "\xa0", "\u3000",
])  # fmt: skip
MARKDOWN = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=200)
LIMITS = st.integers(min_value=2, max_value=120)


def seen(text: str) -> str:
    return INVISIBLE.sub("", text).replace("\u030a", "").replace("\ufe0f", "")


@given(MARKDOWN)
def test_any_markdown_is_a_valid_message(markdown: str) -> None:
    assert broken(from_markdown(markdown)) == []


@given(MARKDOWN)
def test_any_text_is_a_valid_message(text: str) -> None:
    assert broken(plain(text)) == []


@given(MARKDOWN, LIMITS)
def test_parts_are_valid_messages(markdown: str, limit: int) -> None:
    parts = split(from_markdown(markdown), limit)
    assert [rule for part in parts for rule in broken(part, limit=limit, most=100)] == []
    assert all(part.text for part in parts)


@given(MARKDOWN, LIMITS)
def test_parts_together_lose_nothing_that_can_be_seen(markdown: str, limit: int) -> None:
    whole = from_markdown(markdown)
    left = seen(whole.text)
    for part in split(whole, limit):
        text = seen(part.text)
        text = text if left.startswith(text) else text.removeprefix("…")
        assert left.startswith(text)
        left = left.removeprefix(text)
    assert left == ""


@given(MARKDOWN, LIMITS)
def test_parts_together_are_styled_as_the_whole(markdown: str, limit: int) -> None:
    whole = from_markdown(markdown)
    if len(whole.entities) <= 100:
        assert styled_letters(split(whole, limit)) == styled_letters([whole])


@given(MARKDOWN, st.integers(min_value=0, max_value=120))
def test_either_end_is_a_valid_message(markdown: str, limit: int) -> None:
    whole = from_markdown(markdown)
    for cut in (head(whole, limit), tail(whole, limit)):
        assert broken(cut, limit=limit, most=100) == []
        assert (cut.text == whole.text) == (units(whole.text) <= limit)


@given(MARKDOWN, st.integers(min_value=3, max_value=120))
def test_either_end_is_what_the_text_begins_or_ends_with(markdown: str, limit: int) -> None:
    whole = from_markdown(markdown)
    assert whole.text.startswith(re.sub(r"\n?…\Z", "", head(whole, limit).text)) or (
        head(whole, limit) == whole
    )
    assert whole.text.endswith(re.sub(r"\A…\n?", "", tail(whole, limit).text)) or (
        tail(whole, limit) == whole
    )


@given(st.lists(PIECES, min_size=1, max_size=20).map("".join), st.integers(20, 60))
def test_a_summary_is_a_valid_message(markdown: str, times: int) -> None:
    assert broken(summary(markdown * times), limit=SUMMARY_UNITS, most=None) == []


@given(st.text(alphabet="ab *_`~#>-|[]()!\\\n.1"))
def test_every_letter_written_is_shown(markdown: str) -> None:
    fences = re.search(r"```|~~~", markdown)
    if not fences:  # where they stand, the rest of their line is a language
        shown = from_markdown(markdown).text
        assert re.findall("[ab]", shown) == re.findall("[ab]", markdown)


def styled_letters(parts: list[Rich]) -> list[tuple[str, str | None, str]]:
    """Each visible UTF-16 unit of each entity, in order, however it was cut."""
    found: dict[tuple[str, str | None], str] = {}
    for part in parts:
        raw = part.text.encode("utf-16-le")
        for entity in part.entities:
            inside = raw[entity.offset * 2 : (entity.offset + entity.length) * 2]
            kind = (entity.type, entity.url or entity.language)
            found[kind] = found.get(kind, "") + seen(inside.decode("utf-16-le"))
    return sorted((type, more, text) for (type, more), text in found.items() if text)
