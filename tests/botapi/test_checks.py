from __future__ import annotations

from typing import Any

import pytest

from .checks import check_commands, check_keyboard, check_topic_name
from .entities import Entity, check_entities, trimmed, units
from .refusals import Refused


def entity(kind: str, offset: int, length: int, **more: Any) -> Entity:
    return {"type": kind, "offset": offset, "length": length, **more}


def button(label: str = "Stop", data: str = "stop") -> dict[str, str]:
    return {"text": label, "callback_data": data}


@pytest.mark.parametrize(
    "entities",
    [
        [entity("bold", 0, 5), entity("italic", 1, 2)],
        [entity("bold", 0, 2), entity("italic", 2, 2)],
        [entity("code", 0, 5), entity("blockquote", 0, 5)],
        [entity("text_link", 0, 5, url="https://example.org")],
        [entity("bold", 6, 2)],
    ],
)
def test_entities_that_are_kept(entities: list[Entity]) -> None:
    check_entities("hello 😀", entities)


@pytest.mark.parametrize(
    ("entities", "complaint"),
    [
        ([entity("bold", 0, 9)], "ends after the end of the text at UTF-16 offset 9"),
        ([entity("bold", -1, 3)], "invalid offset"),
        ([entity("bold", 0, 0)], "invalid offset"),
        ([entity("bold", 7, 1)], "begins in a middle of a UTF-16 symbol at byte offset 10"),
        ([entity("bold", 6, 1)], "ends in a middle of a UTF-16 symbol at byte offset 10"),
        ([entity("blink", 0, 5)], "unsupported type 'blink'"),
        ([entity("text_link", 0, 5)], "wrong URL"),
        ([entity("text_link", 0, 5, url="javascript:1")], "wrong URL"),
        ([entity("bold", 0, 3), entity("italic", 2, 3)], "overlap"),
        ([entity("bold", 0, 5), entity("code", 1, 2)], "code can't be nested in bold"),
        ([entity("pre", 0, 5), entity("bold", 1, 2)], "bold can't be nested in pre"),
        ([entity("blockquote", 0, 5), entity("blockquote", 1, 2)], "can't be nested"),
        ([entity("bold", 0, 1)] * 101, "too many entities"),
    ],
)
def test_entities_that_are_refused(entities: list[Entity], complaint: str) -> None:
    with pytest.raises(Refused) as refused:
        check_entities("hello 😀", entities)
    assert refused.value.code == 400
    assert complaint in refused.value.description


def test_trimming_moves_and_shortens_entities() -> None:
    assert trimmed("  x y  ", [entity("bold", 4, 3)]) == ("x y", [entity("bold", 2, 1)])
    assert trimmed("  x", [entity("code", 1, 2)]) == (" x", [entity("code", 0, 2)])
    assert trimmed("x  ", [entity("bold", 1, 2)]) == ("x", [])


def test_length_is_counted_in_utf_16() -> None:
    assert units("aä€😀") == 5


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([[button(data="x" * 65)]], "BUTTON_DATA_INVALID"),
        ([[button(data="ä" * 33)]], "BUTTON_DATA_INVALID"),
        ([[button(data="")]], "BUTTON_DATA_INVALID"),
        ([[button(label=" ")]], "BUTTON_TEXT_INVALID"),
        ([[{"text": "Stop"}]], "text buttons are unallowed"),
        ([[button()] * 9], "a row of 9 buttons"),
        ([[button()]] * 101, "reply markup is too long"),
    ],
)
def test_keyboards_that_are_refused(rows: list[list[dict[str, str]]], complaint: str) -> None:
    with pytest.raises(Refused) as refused:
        check_keyboard(rows)
    assert complaint in refused.value.description


def test_keyboards_that_are_kept() -> None:
    check_keyboard([[button(data="ä" * 32)] * 8] * 12)
    check_keyboard([[{"text": "Open", "url": "https://example.org"}]])


@pytest.mark.parametrize(
    ("name", "description"),
    [("", "x"), ("x" * 33, "x"), ("New", "x"), ("new", ""), ("new", "x" * 257)],
)
def test_commands_that_are_refused(name: str, description: str) -> None:
    with pytest.raises(Refused):
        check_commands([{"command": name, "description": description}])


def test_a_hundred_commands_are_the_most() -> None:
    command = {"command": "new", "description": "x"}
    check_commands([command] * 100)
    with pytest.raises(Refused):
        check_commands([command] * 101)


@pytest.mark.parametrize("name", ["", "  ", "x" * 129])
def test_names_of_topics_that_are_refused(name: str) -> None:
    with pytest.raises(Refused):
        check_topic_name(name)
