"""Markdown as Claude writes it: CommonMark with tables and strikethrough, and HTML as text."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

MAX_DEPTH = 20
MAX_MARKS = 40_000
_MARK = re.compile(r"[*_~`\[\]!<&\\\n]")


class _Parser(MarkdownIt):
    # Which links are safe to follow is decided where they are shown; here none is hidden.
    def validateLink(self, url: str) -> bool:  # noqa: N802
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


def parsed(markdown: str) -> list[Token]:
    return _PARSER.parse(markdown)


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Nested beyond reading, the rest is a paragraph; the parser itself would drop it."""
    if state.level < MAX_DEPTH:
        return False
    opening = state.push("paragraph_open", "p", 1)
    opening.map = [start, end]
    content = state.push("inline", "", 0)
    content.content = state.getLines(start, end, state.blkIndent, False).strip()
    content.children = []
    state.push("paragraph_close", "p", -1)
    state.line = end
    return True


def _inline(state: StateCore) -> None:
    """Marks cost time: beyond what any answer has, they are text."""
    left = MAX_MARKS
    for token in state.tokens:
        if token.type != "inline":
            continue
        left -= len(_MARK.findall(token.content))
        if left < 0:
            token.children = [Token("text", "", 0, content=token.content)]
            continue
        token.children = []
        state.md.inline.parse(token.content, state.md, state.env, token.children)


def _parser() -> MarkdownIt:
    # Without "reference": a line such as `[note]: done` would vanish from what people read.
    parser = _Parser("commonmark", {"html": False, "maxNesting": 100})
    parser.enable(["strikethrough", "table"]).disable("reference")
    parser.block.ruler.before("table", "too_deep", _too_deep)
    parser.core.ruler.at("inline", _inline)
    return parser


_PARSER = _parser()
