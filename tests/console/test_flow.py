"""Growing Markdown as lines that stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.console.flow import PIECE, Flow, first_block, settled
from claude_sessions.console.markdown import plain, rendered

ANSWER = """# Found it

The refresh handler clears the cookie **before** the new token is stored, so that every
second tab is logged out; `refresh.ts` is the only file that needs a change.

- read the token
- write the cookie
  - keep its path

```ts
const a = 1

const b = 2
```

| a | b |
|---|---|
| 1 | 2 |

Done.
"""


def lines_at_60(markdown: str) -> list[str]:
    return rendered(markdown, width=60, colour=False)


def words(lines: list[str]) -> list[str]:
    return " ".join(lines).split()


@pytest.mark.parametrize("render", [plain, lines_at_60])
@pytest.mark.parametrize("step", [1, 7, 40, 10_000])
def test_however_it_comes_it_is_printed_once_and_whole(
    render: Callable[[str], list[str]], step: int
) -> None:
    flow = Flow(render)
    lines: list[str] = []
    for end in range(step, len(ANSWER) + step, step):
        lines += flow.grow(ANSWER[:end])
    lines += flow.grow(ANSWER, final=True)
    whole = Flow(render).grow(ANSWER, final=True)
    assert lines == whole
    assert flow.tail == ""


def test_lines_of_a_paragraph_come_before_its_end() -> None:
    flow = Flow(lines_at_60)
    text = "word " * 30
    given = flow.grow(text)
    assert given
    assert words(given) == ["word"] * len(words(given))
    assert len(words(given + flow.grow(text, final=True))) == 30


def test_whole_blocks_only_when_asked_for() -> None:
    flow = Flow(lines_at_60)
    assert flow.grow("word " * 30, by_line=False) == []
    assert words(flow.grow("word " * 30 + "\n\nnext", by_line=False)) == ["word"] * 30


def test_code_comes_line_by_line() -> None:
    flow = Flow(lines_at_60)
    given = flow.grow("```py\na = 1\nb = 2\nc = ")
    assert [line.strip() for line in given] == ["a = 1"]


def test_a_mark_left_open_is_not_shown_as_such() -> None:
    assert settled("so **very much bold") == "so "
    assert settled("see `the code he") == "see "
    assert settled("a [link](http://exa mple") == "a "
    assert settled("whole words on") == "whole words"


def test_a_fence_is_one_block_whatever_is_in_it() -> None:
    text = "```\n\n# not a heading\n- no item\n```\nafter"
    assert text[: first_block(text, final=False)] == "```\n\n# not a heading\n- no item\n```\n"


def test_another_text_than_before_is_printed_again_rather_than_lost() -> None:
    flow = Flow(plain)
    flow.grow("One.\n\nTwo")
    assert flow.grow("Another answer.", final=True) == ["Another answer."]


@given(st.text(alphabet="ab *`_#-\n|>[]()1.", max_size=80), st.integers(1, 9))
def test_no_word_of_plain_text_is_lost(text: str, step: int) -> None:
    flow = Flow(plain)
    lines: list[str] = []
    for end in range(0, len(text), step):
        lines += flow.grow(text[:end])
    lines += flow.grow(text, final=True)
    assert words(lines) == text.split()


@given(st.text(alphabet="ab *`_#-\n|>[]()1.", max_size=60), st.integers(1, 9))
def test_no_letter_is_lost_on_a_terminal(text: str, step: int) -> None:
    flow = Flow(lines_at_60)
    lines: list[str] = []
    for end in range(0, len(text), step):
        lines += flow.grow(text[:end])
    lines += flow.grow(text, final=True)
    said = "".join(lines)
    assert said.count("a") >= text.count("a")
    assert said.count("b") >= text.count("b")


@pytest.mark.parametrize("render", [plain, lines_at_60])
@pytest.mark.parametrize("text", ["```py\n" + "a = 1\n" * 3000 + "```\n\nEnd.", "word " * 5000])
def test_what_is_long_comes_in_pieces_and_whole(
    render: Callable[[str], list[str]], text: str
) -> None:
    asked: list[int] = []

    def counted(piece: str) -> list[str]:
        asked.append(len(piece))
        return render(piece)

    flow = Flow(counted)
    lines = [line for end in range(0, len(text), 5000) for line in flow.grow(text[:end])]
    lines += flow.grow(text, final=True)
    assert max(asked) <= PIECE + 10
    assert sum("a = 1" in line for line in lines) == text.count("a = 1")
    assert words(lines).count("word") == text.count("word")
    assert "" not in lines[:-2]
