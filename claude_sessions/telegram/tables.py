"""Tables for a narrow screen: aligned where they fit, else row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token

from claude_sessions.telegram.inline import Inline
from claude_sessions.telegram.page import Page
from claude_sessions.telegram.widths import columns

MAX_WIDTH = 60
_MAX_REPEATED = 50_000  # characters of headings that may be said again in every row
_BETWEEN = " │ "


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    tokens: Sequence[Token]
    text: str
    align: str


Row = list[Cell]


def write_table(page: Page, tokens: Sequence[Token], source: str, *, is_quoted: bool) -> None:
    rows = _rows(tokens)
    widths = [max(1, *map(columns, texts)) for texts in zip(*_texts(rows), strict=True)]
    if sum(widths) + len(_BETWEEN) * (len(widths) - 1) <= MAX_WIDTH:
        page.block("\n".join(_aligned(rows, widths)))
    elif len(rows) * sum(len(cell.text) + 2 for cell in rows[0]) > _MAX_REPEATED:
        page.block(source)
    else:
        _write_rows(page, rows, is_quoted=is_quoted)


def _rows(tokens: Sequence[Token]) -> list[Row]:
    rows: list[Row] = []
    align = ""
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            align = str(token.attrs.get("style", "")).removeprefix("text-align:")
        elif token.type == "inline":
            children = token.children or []
            rows[-1].append(Cell(tokens=children, text=_plain(children), align=align))
    return rows


def _texts(rows: list[Row]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


def _plain(tokens: Sequence[Token]) -> str:
    """In a grid nothing can be a link, so links show where they lead."""
    page = Page()
    Inline(page, may_link=False).write(tokens)
    return " ".join(page.finished().text.split())


def _aligned(rows: list[Row], widths: list[int]) -> list[str]:
    headings = [replace(cell, align="") for cell in rows[0]]
    if not headings[0].text:  # a message cannot begin with spaces
        headings[0] = replace(headings[0], text="·")
    rule = "─┼─".join("─" * width for width in widths)
    lines = [_line(row, widths) for row in rows[1:]]
    return [_line(headings, widths), rule, *lines]


def _line(row: Row, widths: list[int]) -> str:
    cells = [_padded(cell, width) for cell, width in zip(row, widths, strict=True)]
    return _BETWEEN.join(cells).rstrip()


def _padded(cell: Cell, width: int) -> str:
    space = width - columns(cell.text)
    before = {"right": space, "center": space // 2}.get(cell.align, 0)
    return " " * before + cell.text + " " * (space - before)


def _write_rows(page: Page, rows: list[Row], *, is_quoted: bool) -> None:
    """Each row as lines of `heading: value`; the first value is bold, to find the rows by."""
    inline = Inline(page, is_quoted=is_quoted)
    if len(rows) == 1:
        page.write(_BETWEEN.join(cell.text for cell in rows[0]))
    for row in rows[1:]:
        page.break_line(2)
        for number, (heading, cell) in enumerate(zip(rows[0], row, strict=True)):
            if cell.text:
                _write_value(page, inline, heading, cell, is_first=number == 0)


def _write_value(page: Page, inline: Inline, heading: Cell, cell: Cell, *, is_first: bool) -> None:
    page.break_line()
    if heading.text:
        page.write(f"{heading.text}: ")
    if is_first:
        page.open("bold")
    inline.write(cell.tokens)
    if is_first:
        page.close()
