"""A text with entities, as Telegram takes it: no parse mode, so nothing needs escaping."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, replace

from claude_sessions.telegram.harmless import harmless, is_blank
from claude_sessions.telegram.ruler import Ruler

TAB = 4  # Telegram would make one space of a tab
MAX_ENTITIES = 100  # Telegram passes over the rest
_BY_WORTH = ("pre", "code", "text_link", "blockquote", "bold", "strikethrough", "italic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """What `offset` and `length` count are UTF-16 units."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rich:
    text: str
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """An entity still measured in characters."""

    type: str
    start: int
    end: int
    url: str | None = None
    language: str | None = None


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def plain(text: str) -> Rich:
    return rich(harmless(text).expandtabs(TAB), ())


def styled(text: str, type: str, *, url: str | None = None, language: str | None = None) -> Rich:
    shown = harmless(text).expandtabs(TAB)
    if type == "pre":
        shown = textwrap.dedent(shown)
    span = Span(type=type, start=0, end=len(shown), url=url, language=language)
    return rich(shown, [span])


def joined(*parts: Rich, by: str = "\n") -> Rich:
    filled = [part for part in parts if part.text]
    entities: list[Entity] = []
    at, gap = 0, units(by)
    for part in filled:
        entities += [replace(entity, offset=entity.offset + at) for entity in part.entities]
        at += units(part.text) + gap
    return Rich(text=by.join(part.text for part in filled), entities=tuple(entities))


def rich(text: str, spans: Iterable[Span]) -> Rich:
    """Trimmed as Telegram trims, the entities with it; what is left of none is dropped."""
    if is_blank(text):
        return Rich(text="")
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    kept = [
        replace(span, start=start - first, end=end - first)
        for span in spans
        for start, end in [_trimmed(text, span, first, last)]
        if start < end
    ]
    body = text[first:last]
    ruler = Ruler(body)
    return Rich(
        text=body, entities=tuple(_entity(span, ruler) for span in sorted(kept, key=_order))
    )


def spans_of(rich: Rich, ruler: Ruler) -> list[Span]:
    return [
        Span(
            type=entity.type,
            start=ruler.index(entity.offset),
            end=ruler.index(entity.offset + entity.length),
            url=entity.url,
            language=entity.language,
        )
        for entity in rich.entities
    ]


def within_limit(rich: Rich) -> Rich:
    """At most as many entities as Telegram looks at; what code is and where links lead go first."""
    if len(rich.entities) <= MAX_ENTITIES:
        return rich
    kept = set(sorted(rich.entities, key=lambda entity: _worth(entity.type))[:MAX_ENTITIES])
    return replace(rich, entities=tuple(entity for entity in rich.entities if entity in kept))


def _trimmed(text: str, span: Span, first: int, last: int) -> tuple[int, int]:
    start, end = max(span.start, first), min(span.end, last)
    leading = "\n" if span.type == "pre" else None  # code may begin with an indentation
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip(leading))
    return start, start + len(text[start:end].rstrip())


def _entity(span: Span, ruler: Ruler) -> Entity:
    offset = ruler.unit(span.start)
    return Entity(
        type=span.type,
        offset=offset,
        length=ruler.unit(span.end) - offset,
        url=span.url,
        language=span.language,
    )


def _order(span: Span) -> tuple[int, int, int]:
    return span.start, -span.end, _worth(span.type)


def _worth(type: str) -> int:
    return _BY_WORTH.index(type) if type in _BY_WORTH else len(_BY_WORTH)
