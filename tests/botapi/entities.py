"""Text and its marked-up stretches, measured as Telegram does: in UTF-16 units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .refusals import bad_request

MOST_ENTITIES = 100
ALONE = frozenset({"pre", "code"})
KNOWN = ALONE | {
    "blockquote", "bold", "bot_command", "cashtag", "custom_emoji", "date_time", "email",
    "expandable_blockquote", "hashtag", "italic", "mention", "phone_number", "spoiler",
    "strikethrough", "text_link", "text_mention", "underline", "url",
}  # fmt: skip
SCHEMES = ("http://", "https://", "tg://")

Entity = dict[str, Any]


def units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def check_entities(text: str, entities: Sequence[Entity]) -> None:
    if len(entities) > MOST_ENTITIES:
        raise bad_request(f"too many entities: {len(entities)}, at most {MOST_ENTITIES} are kept")
    length = units(text)
    edges = boundaries(text) if entities else {}
    for each in entities:
        check_kind(each)
        check_range(each, length, edges)
    check_nesting(entities)


def boundaries(text: str) -> dict[int, int]:
    """Where an entity may begin or end, and at which byte: not inside a surrogate pair."""
    unit = byte = 0
    found = {0: 0}
    for character in text:
        unit += 2 if character > "\uffff" else 1
        byte += len(character.encode("utf-8", "surrogatepass"))
        found[unit] = byte
    return found


def check_kind(entity: Entity) -> None:
    kind = entity.get("type")
    if kind not in KNOWN:
        raise bad_request(f"can't parse MessageEntity: unsupported type {kind!r} specified")
    if kind == "text_link" and not str(entity.get("url", "")).startswith(SCHEMES):
        raise bad_request(f"can't parse MessageEntity: wrong URL {entity.get('url')!r}")


def check_range(entity: Entity, length: int, edges: dict[int, int]) -> None:
    begin, end = span(entity)
    if begin < 0 or end <= begin:
        raise bad_request("can't parse MessageEntity: invalid offset or length")
    beginning = f"entity beginning at UTF-16 offset {begin}"
    if end > length:
        raise bad_request(f"{beginning} ends after the end of the text at UTF-16 offset {end}")
    middle = "in a middle of a UTF-16 symbol at byte offset"
    if begin not in edges:
        raise bad_request(f"entity begins {middle} {edges[begin + 1]}")
    if end not in edges:
        raise bad_request(f"{beginning} ends {middle} {edges[end + 1]}")


def span(entity: Entity) -> tuple[int, int]:
    begin, length = entity.get("offset"), entity.get("length")
    if not isinstance(begin, int) or not isinstance(length, int):
        raise bad_request("can't parse MessageEntity: offset and length must be numbers")
    return begin, begin + length


def check_nesting(entities: Sequence[Entity]) -> None:
    """Entities lie within or beside each other; code holds nothing, and only a quote holds code.

    Telegram mends the first and drops entities over the second: what we meant is lost.
    """
    around: list[Entity] = []
    for each in ordered(entities):
        begin, end = span(each)
        around = [one for one in around if span(one)[1] > begin]
        for one in around:
            if span(one)[1] < end:
                raise bad_request(f"entities overlap at UTF-16 offset {begin}")
            check_pair(one, each)
        around.append(each)


def check_pair(outer: Entity, inner: Entity) -> None:
    quotes = is_quote(outer) + is_quote(inner)
    code = {outer["type"], inner["type"]} & ALONE
    if quotes == 2 or (code and not is_quote(outer)):
        raise bad_request(
            f"{inner['type']} can't be nested in {outer['type']} at UTF-16 offset {inner['offset']}"
        )


def is_quote(entity: Entity) -> bool:
    return entity["type"] in ("blockquote", "expandable_blockquote")


def trimmed(text: str, entities: Sequence[Entity]) -> tuple[str, list[Entity]]:
    """As Telegram keeps it: no blanks at the end, nor before the first entity."""
    kept = text.rstrip()
    blanks = len(kept) - len(kept.lstrip(" \n"))
    first = min((each["offset"] for each in entities), default=blanks)
    cut = min(blanks, first)
    kept = kept[cut:]
    return kept, [each for each in (moved(one, cut, units(kept)) for one in entities) if each]


def moved(entity: Entity, back: int, limit: int) -> Entity | None:
    begin = entity["offset"] - back
    end = min(begin + entity["length"], limit)
    return {**entity, "offset": begin, "length": end - begin} if end > begin else None


def same(some: Sequence[Entity], others: Sequence[Entity]) -> bool:
    return ordered(some) == ordered(others)


def ordered(entities: Sequence[Entity]) -> list[Entity]:
    """Outer ones first, and of two that cover the same stretch the quote."""
    return sorted(
        entities,
        key=lambda each: (each["offset"], -each["length"], not is_quote(each), each["type"]),
    )
