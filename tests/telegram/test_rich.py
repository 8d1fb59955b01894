from __future__ import annotations

from claude_sessions.telegram.render import Entity, Rich, joined, plain, styled, units
from tests.telegram.rules import broken, marked


def test_an_emoji_counts_as_telegram_counts_it() -> None:
    assert [units(text) for text in ("a", "ä", "漢", "👍", "👍🏽", "🇩🇪", "👩‍👩‍👧")] == [
        1,
        1,
        1,
        2,
        4,
        4,
        8,
    ]


def test_plain_text_stays_as_it_is_even_if_it_looks_like_markdown() -> None:
    assert plain("**a** <b> `c` [d](e) _f_") == Rich(text="**a** <b> `c` [d](e) _f_")


def test_plain_text_is_made_harmless() -> None:
    assert plain("a\x00b\x1b[1m\u202ec\x9b\r\nd\u2028e").text == "a␀b␛[1m⟨U+202E⟩c⟨U+009B⟩\nd\ne"


def test_a_lone_surrogate_is_replaced_and_a_pair_becomes_its_character() -> None:
    assert plain("a\ud800b \ud83d\udc4d").text == "a�b 👍"


def test_what_telegram_would_take_from_a_letter_stays() -> None:
    assert plain("A\u030angstro\u0308m").text == "Ångström"


def test_emoji_sequences_and_joined_letters_stay_whole() -> None:
    text = "👩‍👩‍👧 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f می‌خواهم ❤️"
    assert plain(text).text == text


def test_what_nobody_sees_is_no_message() -> None:
    assert [plain(text).text for text in ("", " \n ", "\u200b", "\u2800\ufeff")] == [""] * 4


def test_one_style_covers_all_of_a_text_but_the_space_around_it() -> None:
    assert styled(" 👍 ok\n", "bold") == Rich(
        text="👍 ok", entities=(Entity(type="bold", offset=0, length=5),)
    )


def test_code_keeps_its_language_and_its_shape() -> None:
    code = styled("    if a:\n\tb\n", "pre", language="python")
    assert code.text == "if a:\nb"
    assert code.entities == (Entity(type="pre", offset=0, length=7, language="python"),)


def test_a_style_of_nothing_is_nothing() -> None:
    assert styled("  ", "code") == Rich(text="")


def test_joined_parts_keep_what_is_styled_in_them() -> None:
    rich = joined(plain("👍"), plain(""), styled("b", "bold"), styled("c", "code"), by=" · ")
    assert rich.text == "👍 · b · c"
    assert marked(rich) == [("bold", "b"), ("code", "c")]
    assert broken(rich) == []


def test_nothing_joined_is_nothing() -> None:
    assert joined(plain(""), plain(" ")) == Rich(text="")
