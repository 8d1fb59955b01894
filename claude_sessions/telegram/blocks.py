"""What stands on lines of its own: paragraphs, headings, lists, quotations, code, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from claude_sessions.telegram.inline import Inline
from claude_sessions.telegram.page import Page
from claude_sessions.telegram.rich import Rich
from claude_sessions.telegram.tables import write_table

RULE = "─" * 12
_INDENT = "   "
_LANGUAGE = re.compile(r"[A-Za-z0-9+#_-]{1,40}(?=$|[\s:,{])")
_TASK = re.compile(r"\[([ xX])\](?=\s|$)\s*")
_BOXED = ("pre", "blockquote")  # Telegram draws them apart from the lines around them


@dataclass(slots=True)
class _List:
    number: int | None  # of the next item; none where items have no numbers
    indent: str


class Blocks:
    """Writes tokens onto a page; empty lines stay where the author has put them."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._page = Page()
        self._lists: list[_List] = []
        self._quotes: list[str] = []  # the indentation outside each
        self._before = ""

    def rendered(self, tokens: Sequence[Token]) -> Rich:
        at = 0
        while at < len(tokens):
            at = self._one(tokens, at)
        return self._page.finished()

    def _one(self, tokens: Sequence[Token], at: int) -> int:
        token = tokens[at]
        match token.type:
            case "paragraph_open":
                self._begin(token, "paragraph")
            case "heading_open":
                self._begin(token, "heading")
                self._page.open("bold")
            case "heading_close":
                self._page.close()
            case "inline":
                self._inline(token, tokens[at - 2].type if at > 1 else "")
            case "fence" | "code_block":
                self._code(token)
            case "hr":
                self._begin(token, "rule")
                self._page.write(RULE)
            case "table_open":
                return self._table(tokens, at)
            case _:
                self._container(token)
        return at + 1

    def _container(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(_List(None, self._page.indent))
            case "ordered_list_open":
                self._lists.append(_List(int(token.attrs.get("start", 1)), self._page.indent))
            case "bullet_list_close" | "ordered_list_close":
                self._page.indent = self._lists.pop().indent
            case "list_item_open":
                self._begin_item(token)
            case "list_item_close":
                self._end_item()
            case "blockquote_open":
                self._begin_quote(token)
            case "blockquote_close":
                self._end_quote()

    def _begin(self, token: Token, kind: str) -> None:
        """The distance to what stands before; the first of an item stands beside its marker."""
        before, self._before = self._before, kind
        if self._page.marker:
            return
        if kind == "heading":
            self._page.break_line(2)
        elif kind in _BOXED or before in (*_BOXED, "heading"):
            self._page.break_line()
        else:
            self._page.break_line(2 if self._is_after_empty_line(token) else 1)

    def _is_after_empty_line(self, token: Token) -> bool:
        first = token.map[0] if token.map else 0
        return first > 0 and not self._lines[first - 1].strip("> \t")

    def _inline(self, token: Token, container: str) -> None:
        children = list(token.children or ())
        if container == "list_item_open":
            self._take_task(children)
        Inline(self._page, is_quoted=bool(self._quotes)).write(children)

    def _take_task(self, children: list[Token]) -> None:
        if children and (task := _TASK.match(children[0].content)):
            box = "☐ " if task[1] == " " else "☑ "
            self._page.marker = self._page.marker.removesuffix("• ") + box
            children[0] = Token("text", "", 0, content=children[0].content[task.end() :])

    def _begin_item(self, token: Token) -> None:
        current = self._lists[-1]
        if not self._page.marker:
            self._begin(token, "item")
            self._page.marker = current.indent
        self._page.marker += "• " if current.number is None else f"{current.number}. "
        self._page.indent = current.indent + _INDENT
        if current.number is not None:
            current.number += 1

    def _end_item(self) -> None:
        if self._page.marker:  # an empty item is still an item
            self._page.here()

    def _begin_quote(self, token: Token) -> None:
        if self._page.marker:
            self._page.here()
        self._begin(token, "blockquote")
        self._quotes.append(self._page.indent)
        self._page.indent = "> " + self._page.indent if len(self._quotes) > 1 else ""
        self._page.open("blockquote")

    def _end_quote(self) -> None:
        self._page.close()
        self._page.indent = self._quotes.pop()
        self._before = "blockquote"

    def _code(self, token: Token) -> None:
        code = token.content.rstrip()
        if not code:
            return
        if not self._page.marker:
            self._begin(token, "pre")
        language = _LANGUAGE.match(token.info.strip())
        self._page.block(re.sub(r"\A(?:[^\S\n]*\n)+", "", code), language and language[0])
        self._before = "pre"

    def _table(self, tokens: Sequence[Token], at: int) -> int:
        token = tokens[at]
        end = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
        self._begin(token, "table")
        first, last = token.map or (0, 0)
        source = "\n".join(self._lines[first:last])
        write_table(self._page, tokens[at:end], source, is_quoted=bool(self._quotes))
        return end + 1
