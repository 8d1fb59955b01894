"""Where in the log a reader goes on, and whether that is exactly where it left off. Pure.

A place is `EPOCH:SEQ`, or only a `SEQ`. Another epoch is another log, whose numbers say nothing
about this one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from claude_sessions.gateway.refusals import INVALID, Refused

PLACE = re.compile(r"(?:([A-Za-z0-9_-]{1,64}):)?([0-9]{1,18})", re.ASCII)


class Resume(StrEnum):
    NEW = "new"  # from now on: nothing was left off
    EXACT = "exact"
    GAP = "gap"  # what was read before is not what comes before this


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Everything after `after` is still to come."""

    after: int
    resume: Resume
    why: str = ""


def place(epoch: str, seq: int) -> str:
    return f"{epoch}:{seq}"


def start(after: str | None, last_id: str | None, *, epoch: str, head: int) -> Start:
    """A browser that comes back asks with the same address: its `Last-Event-ID` is the newer."""
    if last_id:
        found = PLACE.fullmatch(last_id)
        return _found(found, epoch, head) if found else _gap("this id is not a place in a log")
    if after is None:
        return Start(after=head, resume=Resume.NEW)
    if (found := PLACE.fullmatch(after)) is None:
        raise Refused(INVALID, "after has to be a position: a number, or EPOCH:NUMBER.")
    return _found(found, epoch, head)


def _found(found: re.Match[str], epoch: str, head: int) -> Start:
    return begin(found[1], int(found[2]), epoch=epoch, head=head)


def begin(theirs: str | None, seq: int, *, epoch: str, head: int) -> Start:
    """`theirs`: the log that the place is said to be in; None: this one."""
    if theirs is not None and theirs != epoch:
        return _gap(f"that place is in another log, {theirs}; this one is {epoch}")
    if seq > head:
        return _gap(f"this log ends at {head}")
    return Start(after=seq, resume=Resume.EXACT)


def _gap(why: str) -> Start:
    return Start(after=0, resume=Resume.GAP, why=why)
