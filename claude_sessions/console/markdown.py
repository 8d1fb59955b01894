"""Claude's Markdown in a terminal."""

from __future__ import annotations

import io
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from claude_sessions.console.text import harmless

MAX_WIDTH = 100


class _Code(CodeBlock):
    """Indented and without a background, so that it can be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        syntax = Syntax(
            code, self.lexer_name, theme=self.theme, background_color="default", word_wrap=True
        )
        yield Padding(syntax, (0, 0, 0, 4))


class _Title(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(str(self.text), style="bold underline" if self.tag == "h1" else "bold")


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Title,
    }

    def __init__(self, text: str) -> None:
        # A link shows where it leads, and a tag such as <Button> is text, not HTML to be dropped.
        super().__init__(text, code_theme="ansi_dark", hyperlinks=False)
        parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
        self.parsed = parser.parse(text)


def rendered(text: str, *, width: int, colour: bool = True) -> list[str]:
    """For a terminal: lines with colours and weights."""
    page = io.StringIO()
    console = Console(
        file=page,
        force_terminal=True,
        no_color=not colour,
        width=min(width, MAX_WIDTH),
        emoji=False,
    )
    console.print(_Markdown(harmless(text)))
    lines = [line.rstrip() for line in page.getvalue().split("\n")]
    return _trimmed(lines)


def plain(text: str) -> list[str]:
    """For a pipe or a file: the Markdown itself."""
    return _trimmed([line.rstrip() for line in harmless(text).split("\n")])


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines
