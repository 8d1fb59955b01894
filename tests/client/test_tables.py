"""What people see of what the daemon answers."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from claude_sessions.client import tables

HOUR = 3_600_000


def session(**more: Any) -> dict[str, Any]:
    usual = {
        "id": "a1b2c3d4",
        "name": "fix-auth",
        "status": "running",
        "prompt": "Users are logged out",
        "workdir": "/home/me/web",
        "costUsd": 0.75,
        "startedAt": 0,
        "completedAt": None,
        "display": "🟢 fix-auth [a1b2c3d4] (1h)",
    }
    return {**usual, **more}


def listed(*sessions: dict[str, Any], width: int | None = None) -> list[str]:
    told = {"sessions": list(sessions), "count": len(sessions)}
    return tables.sessions(told, now=3 * HOUR, width=width, home="/home/me")


def test_a_session_is_a_line_with_its_facts() -> None:
    head, line, summary = listed(session())
    assert head.split() == ["NAME", "STATUS", "SINCE", "DIRECTORY", "COST", "PROMPT"]
    assert line == "fix-auth  🟢 running  3 h    ~/web      $0.75  Users are logged out"
    assert summary == "1 session"


def test_without_any_it_says_how_to_start_one() -> None:
    assert listed() == ['No sessions. claude-sessions new "…" starts one.']


def test_what_has_ended_counts_from_its_end() -> None:
    assert " 1 h " in listed(session(completedAt=2 * HOUR))[1]


def test_another_s_home_is_not_taken_for_ours() -> None:
    assert "/home/melanie/web" in listed(session(workdir="/home/melanie/web"))[1]


def test_nothing_in_a_cell_is_a_command_to_the_terminal() -> None:
    (_, line, _) = listed(session(prompt="\x1b[2Jgone\nfor good"))
    assert "\x1b" not in line
    assert "⏎ for good" in line


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), min_size=1, max_size=5))
def test_columns_stand_below_each_other_whatever_is_in_them(rows: list[tuple[str, str]]) -> None:
    rows = [(a.replace("│", ""), b.replace("│", "")) for a, b in rows]
    lines = tables.aligned([(a, b, "│") for a, b in rows])
    assert len({cell_len(line.partition("│")[0]) for line in lines}) == 1


@given(prompt=st.text(max_size=300), directory=st.text(max_size=90), width=st.integers(20, 200))
def test_a_line_never_is_wider_than_the_terminal(prompt: str, directory: str, width: int) -> None:
    head, line, _ = listed(session(prompt=prompt, workdir=directory), width=width)
    assert max(map(cell_len, (head, line))) <= width


def test_of_a_long_directory_the_end_is_seen_and_what_stands_behind_it() -> None:
    deep = "/srv/checkouts/customers/acme/services/backend"
    _, line, _ = listed(session(workdir=deep), width=80)
    assert (
        line == "fix-auth  🟢 running  3 h    …stomers/acme/services/backend  $0.75  Users are l…"
    )


def test_a_token_says_when_it_expires() -> None:
    facts = {"id": "t1", "name": "ci", "role": "viewer", "createdBy": "owner (gateway)"}
    ends = "2026-12-18T20:55:00+00:00"
    told = [
        {**facts, "expiresAt": None, "expired": False},
        {**facts, "expiresAt": ends, "expired": True},
    ]
    _, without_end, over = tables.tokens({"tokens": told})
    assert "  never  " in without_end
    assert "2026-12-18 20:55 UTC (expired)" in over
