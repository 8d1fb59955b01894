"""Texts too long for one message: in parts, or one end of them."""

from __future__ import annotations

from dataclasses import replace

from claude_sessions.telegram.graphemes import cut_after
from claude_sessions.telegram.harmless import is_blank
from claude_sessions.telegram.rich import Rich, units, within_limit
from claude_sessions.telegram.scroll import Scroll

MAX_UNITS = 4096
MORE = "…"
_WORTH_A_LEAD = 16  # units; in less room than this there is none for a line that says "…"


def split(rich: Rich, limit: int = MAX_UNITS) -> list[Rich]:
    """In parts of at most `limit` units (but 2, which one character may need).

    A block of code goes on in the next part. Where it goes on with an indentation, a line with
    "…" stands before it: Telegram takes away the spaces that a message begins with.
    """
    scroll, parts, at = Scroll(rich), list[Rich](), 0
    while (at := scroll.next_text(at)) < len(rich.text):
        lead = MORE + "\n" if at and limit >= _WORTH_A_LEAD and rich.text[at].isspace() else ""
        room = max(2, limit - len(lead))
        end = scroll.ruler.index(scroll.ruler.unit(at) + room)
        cut = end if end == len(rich.text) else scroll.cut(at, end)
        if not is_blank(rich.text[at:cut]):
            parts.append(scroll.piece(at, cut, lead))
        at = cut
    return parts


def head(rich: Rich, limit: int) -> Rich:
    """The beginning that fits, ending in "…"."""
    if units(rich.text) <= limit:
        return within_limit(rich)
    scroll = Scroll(rich)
    cut = scroll.word(0, scroll.ruler.index(limit - 2)) if limit > 2 else 0
    part = scroll.piece(0, cut)
    more = "\n" + MORE if scroll.is_in_code(len(part.text) - 1) else MORE
    return replace(part, text=part.text + more) if limit > 0 else Rich(text="")


def tail(rich: Rich, limit: int) -> Rich:
    """The newest end that fits, from the beginning of a line, led by "…"."""
    if units(rich.text) <= limit:
        return within_limit(rich)
    if limit <= 2:
        return Rich(text=MORE if limit > 0 else "")
    scroll = Scroll(rich)
    first = scroll.ruler.index_after(units(rich.text) - (limit - 2))
    line = _next_line(rich.text, first)
    start = scroll.next_text(line or cut_after(rich.text, _next_word(rich.text, first), 0))
    is_on_own_line = line is not None or scroll.is_in_code(start)
    return scroll.piece(start, len(rich.text), MORE + "\n" * is_on_own_line)


def _next_line(text: str, first: int) -> int | None:
    """None if that would leave less than half of what fits: better to begin within a line."""
    line = text.find("\n", first - 1) + 1
    return line if line and (len(text) - line) * 2 >= len(text) - first else None


def _next_word(text: str, first: int) -> int:
    return text.find(" ", first - 1, first + (len(text) - first) // 4) + 1 or first
