from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.console.editor import Interrupt, Leave, Line, LineEditor


def test_keys_become_a_line() -> None:
    editor = LineEditor()
    assert editor.feed("hello") == []
    assert (editor.before, editor.after) == ("hello", "")
    assert editor.feed("\n") == [Line("hello")]
    assert editor.empty


def test_the_line_can_be_mended() -> None:
    editor = LineEditor()
    assert editor.feed("helo\x1b[Dl\x05!\n") == [Line("hello!")]
    assert editor.feed("one two\x17three\n") == [Line("one three")]
    assert editor.feed("away\x15here\n") == [Line("here")]
    assert editor.feed("ab\x7fc\x01x\x1b[3~\x0b\n") == [Line("x")]


def test_earlier_lines_come_back() -> None:
    editor = LineEditor()
    editor.feed("first\nsecond\n")
    assert editor.feed("\x1b[A\x1b[A\n") == [Line("first")]
    editor.feed("\x1b[A\x1b[B")
    assert editor.empty


def test_a_paste_is_one_message_whatever_it_holds() -> None:
    editor = LineEditor()
    assert editor.feed("see: \x1b[200~one\r\ntwo\x03\x1b[20") == []
    assert editor.feed("1~\n") == [Line("see: one\ntwo")]


def test_control_c_empties_the_line_before_it_interrupts() -> None:
    editor = LineEditor()
    assert editor.feed("half\x03") == []
    assert editor.empty
    (key,) = editor.feed("\x03")
    assert isinstance(key, Interrupt)


def test_control_d_leaves_only_an_empty_line() -> None:
    editor = LineEditor()
    assert editor.feed("ab\x01\x04\n") == [Line("b")]
    (key,) = editor.feed("\x04")
    assert isinstance(key, Leave)


@given(st.text(alphabet="ab\x1b[]O0123~ACD\x7f\x03\x04\x17", max_size=30), st.integers(0, 30))
def test_it_does_not_matter_how_keys_are_cut_into_reads(keys: str, at: int) -> None:
    whole, halves = LineEditor(), LineEditor()
    whole.feed(keys)
    halves.feed(keys[:at])
    halves.feed(keys[at:])
    assert (whole.before, whole.after) == (halves.before, halves.after)
