from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.approvals.visible import has_hidden, one_line, visible

SPELLED_OUT = [
    ("\u202e", "right-to-left override"),
    ("\u2066", "isolate"),
    ("\u200b", "zero width space"),
    ("\u200d", "joiner"),
    ("\u00ad", "soft hyphen"),
    ("\ufeff", "byte order mark"),
    ("\x1b", "escape"),
    ("\x00", "nul"),
    ("\x08", "backspace"),
    ("\r", "carriage return alone"),
    ("\x7f", "delete"),
    ("\x9b", "C1 control sequence introducer"),
    ("\u2028", "line separator"),
    ("\u00a0", "no-break space"),
    ("\u3000", "ideographic space"),
    ("\u3164", "Hangul filler"),
    ("\u115f", "Hangul choseong filler"),
    ("\u2800", "empty braille"),
    ("\u034f", "grapheme joiner"),
    ("\U000e0041", "tag letter"),
    ("\U000e0100", "variation selector"),
    ("\ufe0e", "text style selector"),
    ("\ue000", "private use"),
    ("\ud800", "lone surrogate"),
    ("\uffff", "no character"),
]


@pytest.mark.parametrize(("char", "name"), SPELLED_OUT, ids=[name for _, name in SPELLED_OUT])
def test_what_cannot_be_seen_is_spelled_out(char: str, name: str) -> None:
    assert visible(f"a{char}b") == f"a⟨U+{ord(char):04X}⟩b"
    assert has_hidden(f"a{char}b")


@pytest.mark.parametrize(
    "text",
    ["plain", "two\nlines\tand a tab", "naïve – “quoted” 日本語", "⚠️ careful", "🔧", "e\u0301"],
)
def test_what_can_be_seen_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert not has_hidden(text)


def test_an_emoji_selector_is_kept_only_after_a_symbol_and_only_once() -> None:
    assert visible("a\ufe0f") == "a⟨U+FE0F⟩"
    assert visible("⚠\ufe0f\ufe0f") == "⚠\ufe0f⟨U+FE0F⟩"


def test_windows_line_ends_are_shown_without_alarm() -> None:
    assert visible("a\r\nb") == "a␍\nb"
    assert not has_hidden("a\r\nb")


def test_an_escape_sequence_cannot_repaint_the_screen() -> None:
    assert visible("\x1b[2Krm") == "⟨U+001B⟩[2Krm"


def test_one_line_shows_where_lines_end() -> None:
    assert one_line("npm test\n\n  rm -rf x", 80) == "npm test ⏎ rm -rf x"
    assert one_line("x" * 100, 80) == "x" * 79 + "…"


ANYTHING = st.text(st.characters())  # surrogates included


@given(ANYTHING)
def test_spelling_out_twice_changes_nothing(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert not has_hidden(visible(text))


@given(ANYTHING)
def test_nothing_unseen_is_left(text: str) -> None:
    for char in visible(text).replace("\n", "").replace("\t", ""):
        assert char == " " or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        assert char == " " or unicodedata.category(char) != "Zs"


@given(ANYTHING, st.integers(2, 100))
def test_one_line_is_one_line_of_bounded_length(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert "\n" not in line
    assert "\t" not in line
    assert len(line) <= limit
    assert not has_hidden(line)
