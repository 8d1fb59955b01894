"""What Telegram asks of a message, written down apart from the code that keeps to it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from claude_sessions.telegram.render import Entity, Rich

TYPES = {"bold", "italic", "strikethrough", "code", "pre", "text_link", "blockquote"}
SOLID = {"pre", "code"}
INVISIBLE = re.compile("[\\s\u180e\u200b-\u200f\u2060\u2800\ufeff\ufffc\U000e0000-\U000e007f]")
REFUSED = re.compile("[\x00-\x08\x0b-\x1f\r\t\u2028-\u202e\ud800-\udfff]")


def broken(rich: Rich, *, limit: int | None = None, most: int | None = None) -> list[str]:
    """What Telegram would refuse, drop or change."""
    found = [*_of_text(rich.text), *(rule for e in rich.entities for rule in _of_entity(rich, e))]
    found += [rule for pair in _pairs(rich.entities) for rule in _of_pair(*pair)]
    if limit is not None and _units(rich.text) > limit:
        found.append(f"{_units(rich.text)} units are more than {limit}")
    if most is not None and len(rich.entities) > most:
        found.append(f"{len(rich.entities)} entities are more than {most}")
    return found


def covered(rich: Rich, entity: Entity) -> str:
    raw = rich.text.encode("utf-16-le")
    return raw[entity.offset * 2 : (entity.offset + entity.length) * 2].decode("utf-16-le")


def marked(rich: Rich) -> list[tuple[str, str]]:
    return [(entity.type, covered(rich, entity)) for entity in rich.entities]


def _of_text(text: str) -> list[str]:
    found = []
    if text != text.strip():
        found.append("white space at an end")
    if text and not INVISIBLE.sub("", text):
        found.append("nothing to be seen")
    if refused := REFUSED.search(text):
        found.append(f"{refused.group()!r} is not taken")
    return found


def _of_entity(rich: Rich, entity: Entity) -> list[str]:
    found = []
    if entity.type not in TYPES:
        found.append(f"no such type: {entity}")
    if entity.length <= 0 or not 0 <= entity.offset <= _units(rich.text) - entity.length:
        return [*found, f"out of range: {entity}"]
    try:
        inside = covered(rich, entity)
    except UnicodeDecodeError:
        return [*found, f"cuts a character in two: {entity}"]
    edges = inside.strip("\n").rstrip() if entity.type == "pre" else inside.strip()
    if inside != edges or not inside.strip():
        found.append(f"white space at an end: {entity}")
    return found + _of_details(entity)


def _of_details(entity: Entity) -> list[str]:
    found = []
    if (entity.type == "text_link") != (entity.url is not None):
        found.append(f"an address where none belongs, or none: {entity}")
    if entity.url is not None:
        parts = urlsplit(entity.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            found.append(f"not an address: {entity}")
    if entity.language is not None and not re.fullmatch(r"[A-Za-z0-9+#_-]+", entity.language):
        found.append(f"not a language: {entity}")
    return found


def _pairs(entities: tuple[Entity, ...]) -> list[tuple[Entity, Entity]]:
    """Those that share characters, the outer or earlier one first."""
    pairs, opened = [], list[Entity]()
    for entity in sorted(entities, key=lambda e: (e.offset, -e.length)):
        opened = [other for other in opened if other.offset + other.length > entity.offset]
        pairs += [(other, entity) for other in opened]
        opened.append(entity)
    return pairs


def _of_pair(outer: Entity, inner: Entity) -> list[str]:
    if inner.offset + inner.length > outer.offset + outer.length:
        return [f"overlap: {outer}, {inner}"]
    if SOLID & {outer.type, inner.type}:
        return [f"nested with code: {outer}, {inner}"]
    if outer.type == inner.type or (outer.type, inner.type) == ("text_link", "blockquote"):
        return [f"must not be nested: {outer}, {inner}"]
    return []


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
