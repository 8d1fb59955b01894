"""The translator is total: nothing the CLI may send makes it raise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions import engines as g
from claude_sessions.engines.translate import SYSTEM, Translator

WORDS = st.sampled_from(
    [
        *("type", "subtype", "message", "content", "event", "index", "delta", "text", "model"),
        *("session_id", "tool_use_id", "task_id", "usage", "modelUsage", "origin", "tasks"),
        *("rate_limit_info", "status", "errors", "result", "state", "command_uuid", "error"),
    ]
)
TYPES = st.sampled_from(
    [
        *("system", "assistant", "user", "result", "stream_event", "command_lifecycle"),
        *("tool_progress", "auth_status", "rate_limit_event", "conversation_reset", "novelty"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
SUBTYPES = st.sampled_from([*SYSTEM, "novelty"])
FRAMES = st.builds(
    lambda kind, subtype, rest: {**rest, "type": kind, "subtype": subtype},
    TYPES,
    SUBTYPES,
    st.dictionaries(WORDS, JSON, max_size=6),
)


@given(st.lists(FRAMES, max_size=8))
def test_any_frame_is_read_and_says_at_least_that_claude_lives(frames: list[Any]) -> None:
    translator = Translator()
    for frame in frames:
        events = translator.feed(frame)
        assert events
        assert all(isinstance(event, g.EngineEvent) for event in events)


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "keep_alive"},
        {"type": "tool_use_summary", "summary": "x"},
        {"type": "system", "subtype": "thinking_tokens", "estimated_tokens": 1},
        {},
    ],
)
def test_what_is_unknown_is_a_sign_of_life_and_no_more(frame: dict[str, Any]) -> None:
    assert Translator().feed(frame) == [g.Heartbeat()]


def test_a_refused_usage_limit_says_when_it_resets() -> None:
    info = {"status": "rejected", "rateLimitType": "five_hour", "resetsAt": 1700000000}
    (limited,) = Translator().feed({"type": "rate_limit_event", "rate_limit_info": info})
    assert isinstance(limited, g.Limited)
    assert limited.resets_at == 1700000000
    assert "five hour" in limited.message


def test_an_auth_status_with_an_error_asks_for_a_login() -> None:
    (event,) = Translator().feed({"type": "auth_status", "error": "token expired"})
    assert event == g.LoginNeeded(message="token expired")


def test_tool_progress_is_read() -> None:
    frame = {"type": "tool_progress", "tool_use_id": "t", "tool_name": "Bash"}
    (event,) = Translator().feed({**frame, "elapsed_time_seconds": 4.5})
    assert event == g.ToolProgressed(id="t", name="Bash", elapsed_seconds=4.5)


def test_a_foreground_command_that_takes_long_is_no_background_task() -> None:
    frame = {"type": "system", "subtype": "task_started", "task_id": "x", "description": "d"}
    assert Translator().feed({**frame, "is_backgrounded": False}) == [g.Heartbeat()]
    assert isinstance(Translator().feed({**frame, "is_backgrounded": True})[0], g.TaskBegan)
