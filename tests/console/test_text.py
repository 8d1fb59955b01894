from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.console.markdown import rendered
from claude_sessions.console.text import cut, harmless, head


def test_escape_sequences_are_shown_not_sent() -> None:
    assert harmless("\x1b[31mred\x1b]0;title\x07") == "␛[31mred␛]0;title␇"
    assert harmless("\x9b2J \x7f \x00") == "⟨U+009B⟩2J ␡ ␀"


def test_the_reading_direction_cannot_be_turned() -> None:
    assert harmless("safe\u202eelbisiv") == "safe⟨U+202E⟩elbisiv"


def test_what_people_write_stays() -> None:
    text = "naïve 👩‍👩‍👧 ⚠️ 日本語\n\tתודה"
    assert harmless(text) == text


@given(st.text())
def test_nothing_but_newlines_and_tabs_controls_a_terminal(text: str) -> None:
    assert all(c in "\n\t" or not (ord(c) < 32 or 0x7F <= ord(c) < 0xA0) for c in harmless(text))


def test_html_is_text_and_links_show_where_they_lead() -> None:
    (line,) = rendered("Use <Button>, see [here](http://x.y/z).", width=80)
    assert re.sub(r"\x1b\[[0-9;]*m", "", line) == "Use <Button>, see here (http://x.y/z)."


def test_text_is_cut_by_columns() -> None:
    assert cut("abcdef", 4) == "…def"
    assert cut("日本語日本語", 5) == "…本語"
    assert head("abcdef", 4) == "abc…"
    assert head("abc", 4) == cut("abc", 4) == "abc"
