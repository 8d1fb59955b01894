"""What stands within a line: words and their weight, code, links, pictures."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it.token import Token

from claude_sessions.telegram.links import misleads, says, target
from claude_sessions.telegram.page import Page, Place

PICTURE = "🖼"
_STYLES = {"strong_open": "bold", "em_open": "italic", "s_open": "strikethrough"}


class Inline:
    """Writes tokens onto a page.

    Code cannot stand in a link or a quotation: there it is text, in a quotation with its marks.
    """

    def __init__(self, page: Page, *, is_quoted: bool = False, may_link: bool = True) -> None:
        self._page = page
        self._is_quoted = is_quoted
        self._may_link = may_link
        self._links: list[tuple[Place, str]] = []

    def write(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            self._one(token)

    def _one(self, token: Token) -> None:
        match token.type:
            case "strong_open" | "em_open" | "s_open":
                self._page.open(_STYLES[token.type])
            case "strong_close" | "em_close" | "s_close":
                self._page.close()
            case "softbreak" | "hardbreak":
                self._page.break_line()
            case "code_inline":
                self._code(token.content)
            case "link_open":
                self._links.append((self._page.here(), str(token.attrs.get("href", ""))))
            case "link_close":
                self._end_link(*self._links.pop())
            case "image":
                self._picture(token)
            case _:
                self._text(token.content)

    def _text(self, text: str) -> None:
        for number, line in enumerate(text.split("\n")):
            if number:
                self._page.break_line()
            self._page.write(line)

    def _code(self, code: str) -> None:
        if self._is_quoted:
            self._page.write(f"`{code}`")
        elif self._links or not code.strip():
            self._page.write(code)
        else:
            self._page.code(code)

    def _picture(self, token: Token) -> None:
        place = self._page.here()
        alt = "".join(_words(token.children or ())).strip()
        self._page.write(f"{PICTURE} {alt or 'image'}")
        if not self._links:
            self._end_link(place, str(token.attrs.get("src", "")))

    def _end_link(self, place: Place, href: str) -> None:
        text = self._page.since(place).strip()
        url = target(href)
        if says(text, href):
            return
        if self._may_link and text and url and not misleads(text, url):
            self._page.link(place, url)
        elif shown := url or href:
            self._page.write(f" ({shown})" if text else shown)


def _words(tokens: Sequence[Token]) -> list[str]:
    return [
        word
        for token in tokens
        for word in ([token.content] if not token.children else _words(token.children))
    ]
