"""Whether two texts with unknown stretches could be the same text."""

from __future__ import annotations

from claude_sessions.approvals.shell import ANY, UNKNOWN


def overlap(left: str, right: str) -> bool:
    """`ANY` stands for any stretch of text, the other marks for one without blanks, all maybe empty."""
    places = _past_unknown({0}, right)
    for char in left:
        following: set[int] = set()
        for at in places:
            if char in UNKNOWN:
                following |= _swallowed(char, right, at)
            elif at < len(right) and right[at] == char:
                following.add(at + 1)
            elif at < len(right) and _takes(right[at], char):
                following.add(at)
        places = _past_unknown(following, right)
        if not places:
            return False
    return len(right) in places


def _takes(unknown: str, char: str) -> bool:
    return unknown == ANY or (unknown in UNKNOWN and char != " ")


def _swallowed(unknown: str, text: str, at: int) -> set[int]:
    end = at
    while end < len(text) and _takes(unknown, text[end]):
        end += 1
    return set(range(at, end + 1))


def _past_unknown(places: set[int], text: str) -> set[int]:
    reached = set(places)
    for at in places:
        following = at
        while following < len(text) and text[following] in UNKNOWN:
            following += 1
            reached.add(following)
    return reached
