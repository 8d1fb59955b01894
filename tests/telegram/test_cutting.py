from __future__ import annotations

from claude_sessions.telegram.render import (
    Rich,
    from_markdown,
    head,
    joined,
    plain,
    split,
    styled,
    tail,
    units,
)
from tests.telegram.rules import broken, marked


def parts_of(rich: Rich, limit: int) -> list[Rich]:
    parts = split(rich, limit)
    assert [rule for part in parts for rule in broken(part, limit=limit, most=100)] == []
    return parts


def texts(rich: Rich, limit: int) -> list[str]:
    return [part.text for part in parts_of(rich, limit)]


def test_what_fits_is_one_part_and_nothing_is_none() -> None:
    assert split(plain("a")) == [plain("a")]
    assert split(plain("")) == []


def test_a_cut_is_best_between_paragraphs() -> None:
    assert texts(plain("aaaa bbbb\ncccc\n\ndddd eeee"), 20) == ["aaaa bbbb\ncccc", "dddd eeee"]


def test_else_between_lines() -> None:
    assert texts(plain("aaaa bbbb\ncccc dddd eeee"), 20) == ["aaaa bbbb", "cccc dddd eeee"]


def test_else_between_words() -> None:
    assert texts(plain("aaaa bbbb cccc dddd"), 10) == ["aaaa bbbb", "cccc dddd"]


def test_else_between_letters_as_people_see_them() -> None:
    assert texts(plain("👍🏽" * 5), 10) == ["👍🏽👍🏽", "👍🏽👍🏽", "👍🏽"]
    assert texts(plain("🇩🇪🇫🇷🇮🇹"), 10) == ["🇩🇪🇫🇷", "🇮🇹"]
    assert texts(plain("e\u0301" * 3), 3) == ["e\u0301"] * 3
    assert texts(plain("👩‍👩‍👧👩‍👩‍👧"), 10) == ["👩‍👩‍👧", "👩‍👩‍👧"]


def test_a_character_too_big_for_a_part_is_cut_but_never_a_surrogate_pair() -> None:
    assert texts(plain("👩‍👩‍👧"), 4) == ["👩\u200d", "👩\u200d", "👧"]


def test_a_style_goes_on_in_the_next_part() -> None:
    parts = parts_of(from_markdown("**aaaa [bbbb cccc](https://d.org)**"), 10)
    assert [marked(part) for part in parts] == [
        [("bold", "aaaa bbbb"), ("text_link", "bbbb")],
        [("text_link", "cccc"), ("bold", "cccc")],
    ]
    assert parts[1].entities[0].url == "https://d.org"


def test_code_goes_on_in_the_next_part_in_its_language() -> None:
    code = "\n".join(f"line{n} = {n}" for n in range(10))
    parts = parts_of(from_markdown(f"Code:\n```python\n{code}\n```\nEnd"), 60)
    languages = [entity.language for part in parts for entity in part.entities]
    assert languages == ["python"] * len(parts)
    assert "\n".join(part.text for part in parts) == f"Code:\n{code}\nEnd"


def test_code_that_fits_into_a_part_is_not_cut() -> None:
    code = "a = 1\n\nb = 2\n\nc = 3"
    assert texts(from_markdown(f"{'word ' * 8}\n```\n{code}\n```"), 50)[1] == code


def test_code_keeps_its_indentation_behind_a_cut() -> None:
    body = "\n".join(f"    step_{n}()" for n in range(8))
    parts = parts_of(from_markdown(f"```python\ndef all():\n{body}\n```"), 60)
    assert parts[1].text.startswith("…\n    step_")
    assert marked(parts[1])[0][1].startswith("    step_")


def test_a_table_goes_on_in_the_next_part() -> None:
    parts = parts_of(from_markdown("|a|b|\n|-|-|\n" + "|c|d|\n" * 20), 60)
    assert {type for part in parts for type, _ in marked(part)} == {"pre"}


def test_of_too_many_entities_code_and_links_stay() -> None:
    rich = from_markdown("**a** `b` *c* " * 90 + "[d](https://e.org)")
    (part,) = parts_of(rich, 4096)
    kinds = [entity.type for entity in part.entities]
    assert (kinds.count("code"), kinds.count("text_link"), len(kinds)) == (90, 1, 100)


def test_the_head_ends_in_an_ellipsis() -> None:
    rich = head(from_markdown("aaaa **bbbb cccc** dddd"), 12)
    assert rich.text == "aaaa bbbb…"
    assert marked(rich) == [("bold", "bbbb")]


def test_the_head_of_code_ends_behind_it() -> None:
    rich = head(styled("aaaa\nbbbb\ncccc", "pre"), 12)
    assert rich.text == "aaaa\nbbbb\n…"
    assert marked(rich) == [("pre", "aaaa\nbbbb")]


def test_the_tail_begins_at_a_line() -> None:
    rich = tail(from_markdown("aaaa\nbbbb\n**cccc\ndddd**"), 14)
    assert rich.text == "…\ncccc\ndddd"
    assert marked(rich) == [("bold", "cccc\ndddd")]


def test_the_tail_of_code_is_code() -> None:
    rich = tail(from_markdown("Now:\n```python\nif a:\n    b = 1\n    c = 2"), 24)
    assert rich.text == "…\n    b = 1\n    c = 2"
    assert marked(rich) == [("pre", "    b = 1\n    c = 2")]
    assert rich.entities[0].language == "python"
    assert broken(rich, limit=24) == []


def test_the_tail_of_one_long_line_begins_at_a_word() -> None:
    assert tail(plain("word " * 20), 22).text == "…word word word word"
    assert tail(plain("x" * 50), 22).text == "…" + "x" * 20


def test_what_fits_has_no_ellipsis() -> None:
    rich = joined(plain("a"), styled("b", "bold"))
    assert head(rich, 3) == tail(rich, 3) == rich


def test_hardly_any_room_is_room_for_an_ellipsis() -> None:
    for limit in range(4):
        for cut in (head(plain("👍👍👍"), limit), tail(plain("👍👍👍"), limit)):
            assert units(cut.text) <= limit
            assert broken(cut) == []
