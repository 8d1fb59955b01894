"""What follows from the end of a turn. Pure."""

from __future__ import annotations

from enum import Enum

from claude_sessions import engines as g
from claude_sessions import events as e
from claude_sessions.sessions.beginnings import new_message
from claude_sessions.sessions.turn import Turn
from claude_sessions.state import SessionState


class Next(Enum):
    GO_ON = "the next queued message, if there is one"
    OVER = "a single turn was all that was wanted"
    SPENT = "its money is spent"
    PARK = "a usage limit has to reset first"
    PARK_TODAY = "the day's money is spent"
    RENEW = "it may spend more by now, but its process does not know"


CONTINUE = "Continue where you left off."


def kept_for_later(turn: Turn, over: g.TurnOver, next_: Next) -> list[e.Payload]:
    """What a turn that was cut short was to do is queued again, in front of the rest.

    What it has done need not be done twice: then it is only to go on.
    """
    cut_short = over.reason == "budget_exhausted" and next_ in (Next.PARK_TODAY, Next.RENEW)
    if next_ is not Next.PARK and not cut_short:
        return []
    if turn.produced or turn.asked is None:
        return [new_message(CONTINUE, (), front=True)]
    return [new_message(turn.asked.text, turn.asked.attachments, front=True)]


def what_next(
    state: SessionState,
    over: g.TurnOver,
    *,
    limited: bool,
    today_left: float | None,
    renewed: bool,
) -> Next:
    """`limited`: the account has a limit that has yet to reset.

    `renewed`: its budget was changed while its process ran.
    """
    if state.budget_left == 0.0:
        return Next.SPENT
    if state.spec.once:
        return Next.OVER
    if over.reason == "api_error" and limited:
        return Next.PARK
    stopped = over.reason == "budget_exhausted"  # its process was given less than there is
    if today_left == 0.0 and (state.queue or stopped):
        return Next.PARK_TODAY
    return Next.RENEW if renewed or stopped else Next.GO_ON
