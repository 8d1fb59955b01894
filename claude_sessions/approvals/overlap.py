"""Whether two texts with unknown stretches could be the same text."""

from __future__ import annotations

from claude_sessions.approvals.script import ANY, UNKNOWN


def overlap(left: str, right: str) -> bool:
    """`ANY` stands for any stretch of text, the other marks for one without blanks; or for nothing.

    One row a character of `left`; `row[i]` says whether `right[:i]` can be what was read so far.
    """
    row = _skip_unknown([True] + [False] * len(right), right)
    for char in left:
        row = _swallow(row, char, right) if char in UNKNOWN else _step(row, char, right)
        row = _skip_unknown(row, right)
    return row[-1]


def _takes(unknown: str, char: str) -> bool:
    return unknown == ANY or (unknown in UNKNOWN and char != " ")


def _swallow(row: list[bool], unknown: str, right: str) -> list[bool]:
    after = row[:]
    for at, char in enumerate(right):
        after[at + 1] = after[at + 1] or (after[at] and _takes(unknown, char))
    return after


def _step(row: list[bool], char: str, right: str) -> list[bool]:
    after = [False] * len(row)
    for at, other in enumerate(right):
        if row[at] and other == char:
            after[at + 1] = True
        elif row[at] and _takes(other, char):
            after[at] = True
    return after


def _skip_unknown(row: list[bool], right: str) -> list[bool]:
    for at, char in enumerate(right):
        if row[at] and char in UNKNOWN:
            row[at + 1] = True
    return row
