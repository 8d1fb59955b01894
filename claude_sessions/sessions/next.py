"""What follows from the end of a turn. Pure."""

from __future__ import annotations

from enum import Enum

from claude_sessions import engines as g
from claude_sessions.state import SessionState


class Next(Enum):
    GO_ON = "the next queued message, if there is one"
    OVER = "a single turn was all that was wanted"
    SPENT = "its money is spent"
    PARK = "a usage limit has to reset first"
    PARK_TODAY = "the day's money is spent"
    RENEW = "it may spend more by now, but its process does not know"


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
    if over.reason == "budget_exhausted" and today_left != 0.0 and not renewed:
        return Next.SPENT
    if state.spec.once:
        return Next.OVER
    if over.reason == "api_error" and limited:
        return Next.PARK
    if today_left == 0.0 and (state.queue or over.reason == "budget_exhausted"):
        return Next.PARK_TODAY
    return Next.RENEW if renewed else Next.GO_ON
