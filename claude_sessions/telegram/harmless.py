"""Text that Telegram takes as it is: nothing in it is dropped, replaced or turned around there.

Telegram deletes line and paragraph separators, direction controls and carriage returns, turns
other control characters into spaces, and refuses lone surrogates. Joiners and the marks of
direction stay, because emoji and whole scripts need them.
"""

from __future__ import annotations

import re
import unicodedata

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n?|[\u2028\u2029]")
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_RING = "\u030a"  # Telegram deletes this mark, and with it the ring of an å in two parts
# What Telegram takes for nothing: a message of these alone is refused as empty.
_SEEN = re.compile(
    "[^\\s\u180e\u200b-\u200f\u2060\u2800\ufeff\ufffc\u0333\u033f\u030a\U000e0000-\U000e007f]"
)


def harmless(text: str) -> str:
    """Control characters are shown, not sent: escape becomes `␛`. Newline and tab stay."""
    if text.isascii() and text.isprintable():
        return text
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if _RING in text:
        text = unicodedata.normalize("NFC", text)
    return _HARMFUL.sub(_shown, _LINE_END.sub("\n", text))


def is_blank(text: str) -> bool:
    return _SEEN.search(text) is None


def _shown(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
