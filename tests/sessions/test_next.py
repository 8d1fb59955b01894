"""What follows from the end of a turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from claude_sessions.engines import TurnOver
from claude_sessions.model import SessionSpec
from claude_sessions.sessions.next import Next, what_next
from claude_sessions.state import QueuedMessage, SessionState

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STATE = SessionState(
    id="s1",
    name="a",
    project="p",
    spec=SessionSpec(directory="/srv", budget_usd=5.0),
    prompt="go",
    origin=None,
    created_at=NOW,
    updated_at=NOW,
    last_seq=1,
    run_started_at=NOW,
)
BUSY = replace(STATE, queue=(QueuedMessage(id="m1", text="and then?"),))
SPENT = replace(STATE, cost_usd=5.0)
ONCE = replace(STATE, spec=replace(STATE.spec, once=True))
DONE = TurnOver(reason="completed")
FAILED = TurnOver(reason="api_error", is_error=True)
STOPPED = TurnOver(reason="budget_exhausted", is_error=True)


@pytest.mark.parametrize(
    ("state", "over", "given", "expected"),
    [
        (STATE, DONE, {}, Next.GO_ON),
        (BUSY, DONE, {}, Next.GO_ON),
        (STATE, FAILED, {}, Next.GO_ON),
        (SPENT, DONE, {}, Next.SPENT),
        (SPENT, DONE, {"renewed": True}, Next.SPENT),
        (SPENT, STOPPED, {}, Next.SPENT),
        (STATE, STOPPED, {}, Next.RENEW),
        (STATE, STOPPED, {"renewed": True}, Next.RENEW),
        (STATE, DONE, {"renewed": True}, Next.RENEW),
        (ONCE, DONE, {}, Next.OVER),
        (ONCE, FAILED, {"limited": True}, Next.OVER),
        (STATE, FAILED, {"limited": True}, Next.PARK),
        (STATE, DONE, {"limited": True}, Next.GO_ON),
        (STATE, DONE, {"today_left": 0.0}, Next.GO_ON),
        (BUSY, DONE, {"today_left": 0.0}, Next.PARK_TODAY),
        (STATE, STOPPED, {"today_left": 0.0}, Next.PARK_TODAY),
        (BUSY, DONE, {"today_left": 1.0}, Next.GO_ON),
    ],
)
def test_what_follows(
    state: SessionState, over: TurnOver, given: dict[str, object], expected: Next
) -> None:
    usual: dict[str, object] = {"limited": False, "today_left": None, "renewed": False}
    assert what_next(state, over, **(usual | given)) is expected  # type: ignore[arg-type]
