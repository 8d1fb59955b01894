from __future__ import annotations

from claude_sessions.telegram.documents import SUMMARY_UNITS, summary, too_long
from claude_sessions.telegram.render import from_markdown, plain
from tests.telegram.rules import broken, marked


def test_more_than_five_parts_are_too_long() -> None:
    assert [too_long([plain("a")] * count) for count in (1, 5, 6)] == [False, False, True]


def test_a_summary_is_how_an_answer_begins_and_ends() -> None:
    rich = summary("# Report\n\nAll is **well**.\n\n" + "Much more.\n\n" * 500 + "Next: `deploy`.")
    assert rich.text == "Report\nAll is well.\n\n…\n\nNext: deploy."
    assert marked(rich) == [("bold", "Report"), ("bold", "well"), ("code", "deploy")]


def test_a_summary_is_short() -> None:
    rich = summary("a👍 " * 900 + "\n\n" + "middle\n\n" * 50 + "b👍 " * 900)
    assert rich.text.count("…") == 3
    assert broken(rich, limit=SUMMARY_UNITS, most=100) == []


def test_an_empty_line_in_code_does_not_end_the_beginning() -> None:
    rich = summary("```py\na\n\nb\n```\n\ntext\n\n" + "more " * 500 + "\n\nend")
    assert rich.text.startswith("a\n\nb\ntext\n\n…\n\nend")
    assert marked(rich) == [("pre", "a\n\nb")]


def test_what_is_short_is_its_own_summary() -> None:
    assert summary("a **b**") == from_markdown("a **b**")


def test_one_endless_paragraph_is_cut() -> None:
    assert broken(summary("word " * 1000), limit=SUMMARY_UNITS) == []
