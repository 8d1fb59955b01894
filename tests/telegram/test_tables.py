from __future__ import annotations

from claude_sessions.telegram.render import from_markdown
from claude_sessions.telegram.tables import MAX_WIDTH
from claude_sessions.telegram.widths import columns
from tests.telegram.rules import broken, marked


def test_a_narrow_table_is_aligned() -> None:
    rich = from_markdown("|File|Lines|\n|-|-:|\n|a.py|7|\n|`b`.py|**120**|")
    assert rich.text.split("\n") == [
        "File │ Lines",
        "─────┼──────",
        "a.py │     7",
        "b.py │   120",
    ]
    assert [type for type, _ in marked(rich)] == ["pre"]


def test_wide_letters_count_double() -> None:
    lines = from_markdown("|名前|x|\n|-|-|\n|漢字|1|\n|a|✅|\n|👍🏽|é|").text.split("\n")
    assert {columns(line.split("│")[0]) for line in lines if "│" in line} == {5}


def test_widths_of_joined_emoji_flags_and_marks() -> None:
    texts = ("abc", "漢", "👩‍👩‍👧", "🇩🇪", "👍🏽", "❤️", "e\u0301")
    assert [columns(text) for text in texts] == [3, 2, 2, 2, 2, 2, 1]


def test_a_wide_table_is_told_row_by_row() -> None:
    long = "x" * MAX_WIDTH
    rich = from_markdown(f"|Name|What|\n|-|-|\n|`a`|{long}|\n|b|[c](https://d.org/{long})|")
    assert rich.text == f"Name: a\nWhat: {long}\n\nName: b\nWhat: c"
    assert [type for type, _ in marked(rich)] == ["code", "bold", "text_link"]
    assert broken(rich) == []


def test_an_empty_corner_does_not_move_the_columns() -> None:
    rich = from_markdown("| |A|\n|-|-|\n|b|1|")
    assert rich.text == "· │ A\n──┼──\nb │ 1"


def test_links_in_an_aligned_table_show_where_they_lead() -> None:
    assert "b (https://c.org)" in from_markdown("|A|\n|-|\n|[b](https://c.org)|").text


def test_a_table_that_has_only_begun_is_shown() -> None:
    assert from_markdown("|A|B|\n|-|-|").text == "A │ B\n──┼──"
    assert from_markdown(f"|{'A' * 80}|B|\n|-|-|").text == "A" * 80 + " │ B"


def test_headings_are_not_repeated_without_end() -> None:
    heading = "h" * 5000
    rich = from_markdown(f"|a|{heading}|\n|-|-|\n" + "|b|c|\n" * 1000)
    assert len(rich.text) < 20_000
    assert broken(rich) == []
