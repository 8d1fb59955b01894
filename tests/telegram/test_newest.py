"""What is rendered of a long turn that runs, however long it has become."""

from __future__ import annotations

from claude_sessions.telegram.looks import SOURCE, Piece, Tool, Words, running
from claude_sessions.telegram.newest import newest
from claude_sessions.telegram.render import from_markdown

PROSE = "".join(f"Paragraph {n} has **some** words.\n\n" for n in range(2000))


def shown(*texts: str) -> str:
    return running("s", 1.0, [Words(text) for text in texts], ()).parts[0].text


def test_what_is_short_stays_whole() -> None:
    assert newest("one\n\ntwo", 100) == "one\n\ntwo"


def test_a_long_text_begins_with_a_block() -> None:
    end = newest(PROSE, 500)
    assert len(end) <= 500
    assert end.startswith("Paragraph ")
    assert PROSE.endswith(end)


def test_what_begins_within_code_is_code() -> None:
    code = "```python\n" + "x = 1\n\n" * 500
    rich = from_markdown(newest(code, 300))
    assert [entity.language for entity in rich.entities] == ["python"]
    assert rich.text.startswith("x = 1")


def test_code_that_is_over_is_not_opened_again() -> None:
    text = "```\ncode\n```\n\n" + PROSE
    assert "```" not in newest(text, 500)


def test_a_fence_of_another_kind_does_not_end_the_code() -> None:
    text = "````md\n```\n" + "inside\n" * 100
    assert newest(text, 100).startswith("````md\n")


def test_one_line_without_an_end_is_cut_all_the_same() -> None:
    assert newest("word " * 1000, 100) == ("word " * 1000)[-100:]


def test_a_running_turn_looks_the_same_as_if_all_of_it_had_been_rendered() -> None:
    assert shown(PROSE) == shown(PROSE[PROSE.index("Paragraph 1000") :])
    assert shown(PROSE, "The end.") == shown(PROSE[-SOURCE:], "The end.")


def test_older_pieces_are_left_out_once_they_cannot_be_seen() -> None:
    pieces: list[Piece] = [Words(PROSE), Tool("🔧 Bash — old"), Words(PROSE), Tool("🔧 Bash — new")]
    text = running("s", 1.0, pieces, ()).parts[0].text
    assert "🔧 Bash — new" in text
    assert "🔧 Bash — old" not in text
