"""Whether a conversation may be open elsewhere: a glance, and what it spares."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.engines.agents import elsewhere, may_be_elsewhere

CLAUDE = "0b0e4c2e-7d5c-4c56-9d3b-6a2a2f0f7c11"


def test_where_nobody_has_noted_it_nobody_is_asked(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert may_be_elsewhere(env, CLAUDE)  # there are no notes: who knows
    notes = tmp_path / ".claude" / "sessions"
    notes.mkdir(parents=True)
    (notes / "12.json").write_text('{"pid": 12, "sessionId": "another"}')
    assert not may_be_elsewhere(env, CLAUDE)
    (notes / "13.json").write_text(f'{{"pid": 13, "sessionId": "{CLAUDE}"}}')
    assert may_be_elsewhere(env, CLAUDE)


def test_the_notes_lie_where_claude_s_configuration_does(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    assert not may_be_elsewhere({"HOME": "/nowhere", "CLAUDE_CONFIG_DIR": str(tmp_path)}, CLAUDE)


def test_its_own_process_is_not_elsewhere() -> None:
    live = [{"pid": 7, "sessionId": CLAUDE, "cwd": "/srv", "status": "busy"}]
    assert elsewhere(live, CLAUDE, own_pid=7) is None
    assert elsewhere(live, "other", own_pid=None) is None
    assert elsewhere(live, CLAUDE, own_pid=8) == "process 7 in /srv, busy"
