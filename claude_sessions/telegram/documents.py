"""An answer too long to read in a chat goes there as a document, with a few words about it."""

from __future__ import annotations

from claude_sessions.telegram.cutting import MORE, head
from claude_sessions.telegram.render import Rich, from_markdown, joined, plain, units
from claude_sessions.telegram.scroll import Scroll

MAX_PARTS = 5
SUMMARY_UNITS = 600
_FIRST_UNITS = 250


def too_long(parts: list[Rich]) -> bool:
    return len(parts) > MAX_PARTS


def summary(markdown: str) -> Rich:
    """How the answer begins and how it ends: there stand what it is about and what came of it."""
    whole = from_markdown(markdown)
    if units(whole.text) <= SUMMARY_UNITS:
        return whole
    scroll = Scroll(whole)
    begins, ends = scroll.paragraph_after(0), scroll.paragraph_before(len(whole.text))
    if not 0 < begins < ends:
        return head(whole, SUMMARY_UNITS)
    first = head(scroll.piece(0, begins), _FIRST_UNITS)
    room = SUMMARY_UNITS - units(first.text) - units(f"\n\n{MORE}\n\n")
    last = head(scroll.piece(ends, len(whole.text)), room)
    return joined(first, plain(MORE), last, by="\n\n")
