"""Links that lead where they say."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from markdown_it.common.normalize_url import normalizeLink

MAX_LENGTH = 2048
_MAX_TEXT = 500  # longer ones are not searched for addresses, but shown with their target
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+\.?|[0-9a-f:.]*:[0-9a-f:.]*", re.IGNORECASE)
_PRINTABLE = re.compile(r"[!-~]+")
# With a scheme, or with a dot between what may be names: full stops of other scripts count too.
_LIKE_URL = re.compile(r"\w+://\S*|[^\s/@(]+[.。．｡][^\W\d_]{2,}\S*")
# Endings of files that are no ending of a host; `.py`, `.md`, `.rs` and `.sh` are countries.
_FILE = re.compile(
    r"[\w.-]+\.(css|csv|go|html|ini|java|js|json|jsx|lock|log|sql|toml|ts|tsx|txt|xml|ya?ml)",
    re.IGNORECASE,
)
_BEGINNING = re.compile(r"^(https?://)?(www\.)?")


def target(href: str) -> str | None:
    """The address if Telegram will take it behind a text; it takes no host without a dot."""
    if not href.lower().startswith(("http://", "https://")) or len(href) > MAX_LENGTH:
        return None
    try:
        url = normalizeLink(href)
        parts = urlsplit(url)
        is_valid = _HOST.fullmatch(parts.hostname or "") and parts.port != 0
    except ValueError:
        return None
    return url if is_valid and len(url) <= MAX_LENGTH and _PRINTABLE.fullmatch(url) else None


def says(text: str, href: str) -> bool:
    """Whether the text is the address itself, so that nothing need be added to it."""
    return _bare(text) in (_bare(href), _bare(href.removeprefix("mailto:")))


def misleads(text: str, url: str) -> bool:
    """Whether the text names another address than the one it leads to."""
    if len(text) > _MAX_TEXT:
        return True
    seen = "".join(char for char in text if unicodedata.category(char) != "Cf")
    seen = unicodedata.normalize("NFKC", seen)
    return any(not _leads_to(url, named) for named in _LIKE_URL.findall(seen))


def _leads_to(url: str, named: str) -> bool:
    name = named.rstrip(".,;:!?)")
    if _FILE.fullmatch(name):
        return True
    shown, real = _bare(name), _bare(url)
    return real == shown or real.startswith((shown + "/", shown + "?", shown + "#"))


def _bare(url: str) -> str:
    return _BEGINNING.sub("", url.strip().lower(), count=1).rstrip("/")
