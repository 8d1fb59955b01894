from __future__ import annotations

import pytest

from claude_sessions.telegram.render import Rich, from_markdown
from tests.telegram.rules import broken, marked


def shown(markdown: str) -> Rich:
    rich = from_markdown(markdown)
    assert broken(rich) == []
    return rich


def test_words_have_their_weight() -> None:
    rich = shown("**a** *b* ~~c~~ `d` _e_ __f__")
    assert rich.text == "a b c d e f"
    assert [type for type, _ in marked(rich)] == [
        "bold", "italic", "strikethrough", "code", "italic", "bold",
    ]  # fmt: skip


def test_offsets_are_right_behind_emoji_marks_and_right_to_left_scripts() -> None:
    rich = shown("👩‍👩‍👧 🇩🇪 👍🏽 e\u0301 שלום **עולם** 𝒳 `код`")
    assert marked(rich) == [("bold", "עולם"), ("code", "код")]


def test_styles_nest() -> None:
    assert marked(shown("**a *b* c**")) == [("bold", "a b c"), ("italic", "b")]
    assert marked(shown("***a***")) == [("bold", "a"), ("italic", "a")]


def test_a_style_within_itself_is_one() -> None:
    assert marked(shown("# a **b** c")) == [("bold", "a b c")]


def test_code_interrupts_what_is_around_it() -> None:
    rich = shown("**the `real` bug**")
    assert rich.text == "the real bug"
    assert marked(rich) == [("bold", "the"), ("code", "real"), ("bold", "bug")]


def test_code_blocks_have_their_language() -> None:
    rich = shown("Run:\n\n```c++ title=x\nint a;\n\n  b;\n```\nDone")
    assert rich.text == "Run:\nint a;\n\n  b;\nDone"
    assert rich.entities[0].language == "c++"


@pytest.mark.parametrize(
    ("info", "language"),
    [("python", "python"), ("C#", "C#"), ("ts:src/a.ts", "ts"), ("{.py}", None), ("p\x00y", None)],
)
def test_a_language_is_a_name_or_nothing(info: str, language: str | None) -> None:
    assert shown(f"```{info}\na\n```").entities[0].language == language


def test_indented_code_is_code() -> None:
    assert marked(shown("a\n\n    b\n        c")) == [("pre", "b\n    c")]


def test_tabs_in_code_keep_their_width() -> None:
    assert shown("x\n```go\nif a {\n\tb\n}\n```").text == "x\nif a {\n    b\n}"


def test_an_unclosed_fence_is_code() -> None:
    assert marked(shown("So:\n```python\nfor a in b:\n    c")) == [("pre", "for a in b:\n    c")]
    assert shown("So:\n```python\n").text == "So:"


def test_an_unclosed_style_is_text() -> None:
    assert shown("a **b") == Rich(text="a **b")


def test_headings_are_bold_lines() -> None:
    rich = shown("# A\n\ntext\n\n## B\n\nmore")
    assert rich.text == "A\ntext\n\nB\nmore"
    assert marked(rich) == [("bold", "A"), ("bold", "B")]


def test_lists_have_bullets_numbers_and_indentation() -> None:
    rich = shown("Do:\n- a\n- b\n  more\n  - c\n\n3. x\n4. y")
    assert rich.text == "Do:\n• a\n• b\n   more\n   • c\n\n3. x\n4. y"


def test_empty_lines_between_items_stay_where_they_are() -> None:
    assert shown("- a\n\n- b\n\n  c").text == "• a\n\n• b\n\n   c"


def test_tasks_have_boxes() -> None:
    assert shown("- [ ] a\n- [x] **b**\n1. [X] c\n- [y] d").text == "☐ a\n☑ b\n1. ☑ c\n• [y] d"


def test_a_list_may_hold_code_a_quotation_or_nothing() -> None:
    rich = shown("- a\n  ```\n  b\n  ```\n  c\n- > d\n-\n- ```\n  e\n  ```")
    assert rich.text == "• a\nb\n   c\n•\nd\n•\n•\ne".replace("•\n", "• \n")
    assert marked(rich) == [("pre", "b"), ("blockquote", "d"), ("pre", "e")]


def test_quotations_are_quotations_and_not_nested() -> None:
    rich = shown("a\n\n> b\n> **c**\n>\n> > d\n\ne")
    assert rich.text == "a\nb\nc\n> d\ne"
    assert marked(rich) == [("blockquote", "b\nc\n> d"), ("bold", "c")]


def test_code_in_a_quotation_keeps_its_marks_and_blocks_interrupt_it() -> None:
    rich = shown("> run `a`\n> ```\n> b\n> ```\n> c")
    assert marked(rich) == [("blockquote", "run `a`"), ("pre", "b"), ("blockquote", "c")]


def test_a_rule_is_a_line() -> None:
    assert shown("a\n\n---\n\nb").text == "a\n\n────────────\n\nb"


def test_html_is_text() -> None:
    text = "<b>a</b> <script>alert(1)</script>\n\n<div>\n\nx <!-- y -->"
    assert shown(text) == Rich(text="<b>a</b> <script>alert(1)</script>\n\n<div>\n\nx <!-- y -->")


def test_nothing_harmful_comes_in_as_a_named_character() -> None:
    assert shown("a&#x202e;b&#27;c &lt;d&gt;").text == "a⟨U+202E⟩b�c <d>"


def test_what_looks_like_a_definition_stays() -> None:
    assert shown("[note]: done").text == "[note]: done"


def test_nested_beyond_reading_is_text() -> None:
    assert shown("> " * 500 + "deep").text.endswith("deep")
    assert shown("".join("  " * n + f"- {n}\n" for n in range(60))).text.endswith("59")
