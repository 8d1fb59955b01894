"""What rings: done, failed and needs you; the rest is silent."""

from __future__ import annotations

from typing import Any

import pytest

from claude_sessions.channel import Action, Kind, Notification
from claude_sessions.telegram.looks import rings

GO_ON = (Action(label="Go on", line="/resume x"),)


def news(kind: Kind, text: str = "x", **more: Any) -> Notification:
    return Notification(kind=kind, session="s", name="x", text=text, **more)


@pytest.mark.parametrize(
    "loud",
    [
        news(Kind.COMPLETED),
        news(Kind.FAILED),
        news(Kind.LIMIT),
        news(Kind.WAITING, foreground=False, seconds=1.0),
        news(Kind.WAITING, seconds=31.0),
        news(Kind.WAITING, text="⚠️ x: the turn failed"),
        news(Kind.NOTICE, urgent=True),
        news(Kind.NOTICE, actions=GO_ON),
    ],
)
def test_what_is_done_has_failed_or_needs_you_rings(loud: Notification) -> None:
    assert rings(loud)


@pytest.mark.parametrize(
    "silent",
    [
        news(Kind.STREAM),
        news(Kind.TOOL),
        news(Kind.LAUNCHED),
        news(Kind.KILLED),
        news(Kind.LONG_RUNNING, foreground=False),
        news(Kind.NOTICE),
        news(Kind.WAITING, seconds=30.0),
        news(Kind.WAITING),  # it goes on by itself, however long it took
    ],
)
def test_the_rest_is_silent(silent: Notification) -> None:
    assert not rings(silent)
