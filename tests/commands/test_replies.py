from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions import engines as g
from claude_sessions.approvals.desk import Receipt, Waiting
from claude_sessions.approvals.rules import Rule, ToolCall
from claude_sessions.channel import Action
from claude_sessions.commands import (
    Answer,
    Decide,
    Foreground,
    Kill,
    RevokeRule,
    Trust,
    Withdraw,
    replies,
)
from claude_sessions.commands.chat import parse
from claude_sessions.commands.figures import ordinal, span
from claude_sessions.model import (
    AskKind,
    PermissionMode,
    Scope,
    SessionSpec,
    Status,
    Verdict,
)
from claude_sessions.state import BackgroundTask, Pending, SessionState
from claude_sessions.storage.figures import Dearest, Sums

NOW = datetime(2026, 3, 4, 14, 3, tzinfo=UTC)


def before(**parts: float) -> datetime:
    return NOW - timedelta(**parts)


def session(name: str = "fix-auth", **changes: Any) -> SessionState:
    spec: dict[str, Any] = {"directory": "/home/me/web", "model": "sonnet", "budget_usd": 5.0}
    spec["trusted"] = True
    spec |= changes.pop("spec", {})
    given = {
        "id": f"id-{name}",
        "project": "p",
        "prompt": "Users are logged out\nafter refresh",
        "origin": None,
        "created_at": before(minutes=10),
        "updated_at": before(minutes=5),
        "run_started_at": before(minutes=2, seconds=5),
        "last_seq": 1,
        "status": Status.RUNNING,
        **changes,
    }
    return SessionState(name=name, spec=SessionSpec(**spec), **given)


def pending(**parts: float) -> tuple[Pending, ...]:
    at = before(**parts)
    return (Pending(id="a1", tool_use_id="t1", kind=AskKind.TOOL, tool_name="Bash", at=at),)


WORKING: dict[str, Any] = {"turn": "t", "turn_started_at": before(seconds=42), "cost_usd": 0.75}
ASLEEP: dict[str, Any] = {"status": Status.ASLEEP, "updated_at": before(hours=3), "cost_usd": 1.2}
DONE: dict[str, Any] = {
    "status": Status.COMPLETED,
    "run_ended_at": before(days=2),
    "updated_at": before(days=2),
    "cost_usd": 0.4,
}


# --- figures


@pytest.mark.parametrize(
    ("seconds", "long", "ticking", "coarse"),
    [
        (-3, "0s", "0:00", "0 s"),
        (42.9, "42s", "0:42", "42 s"),
        (60, "1m0s", "1:00", "1 min"),
        (760, "12m40s", "12:40", "12 min"),
        (3723, "1h2m", "1:02:03", "1 h"),
        (100_000, "27h46m", "27:46:40", "27 h"),
        (200_000, "55h33m", "55:33:20", "2 d"),
    ],
)
def test_time_in_few_characters(seconds: float, long: str, ticking: str, coarse: str) -> None:
    assert replies.duration(seconds) == long
    assert replies.clock(seconds) == ticking
    assert span(seconds) == coarse


def test_ago() -> None:
    assert replies.ago(before(seconds=2), NOW) == "just now"
    assert replies.ago(before(minutes=5), NOW) == "5 min ago"
    assert replies.ago(NOW + timedelta(hours=1), NOW) == "just now"


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "$0"),
        (5.0, "$5"),
        (0.75, "$0.75"),
        (0.1 + 0.2, "$0.30"),
        (0.0042, "$0.0042"),
        (0.00002, "<$0.0001"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money(usd: float, text: str) -> None:
    assert replies.money(usd) == text


@settings(deadline=None)
@given(st.floats(min_value=1e-12, max_value=1e6))
def test_no_sum_looks_like_nothing(usd: float) -> None:
    assert replies.money(usd).strip("<$0.,") != ""


def test_ordinals() -> None:
    numbers = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111]
    assert " ".join(map(ordinal, numbers)) == "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th"


# --- launching, ending


def test_a_launch_is_told_in_three_lines() -> None:
    text, actions = replies.launched(session(status=Status.STARTING))
    assert text.splitlines() == [
        "🟡 fix-auth · web · sonnet · $5",
        "Users are logged out ⏎ after refresh",
        "id id-fix-auth",
    ]
    assert [parse(action.line) for action in actions] == [
        Foreground(session="id-fix-auth"),
        Kill(session="id-fix-auth"),
    ]


def test_a_launch_in_an_unknown_directory_says_so_and_offers_trust() -> None:
    spec = {"trusted": False, "once": True, "mode": PermissionMode.PLAN, "model": None}
    text, actions = replies.launched(session(spec=spec), warnings=("The name x is taken.",))
    assert "default model · $5 · plan · single turn" in text
    assert "New directory: its own hooks, MCP servers and CLAUDE.md are off.\n" in text
    assert "The name x is taken." in text
    assert actions[-1].label == "Trust this project"
    assert parse(actions[-1].line) == Trust(directory="id-fix-auth")


def test_killing_what_has_ended_says_so() -> None:
    ended = session(status=Status.KILLED, run_ended_at=NOW, cost_usd=0.61)
    assert replies.killed(ended, already=False).startswith("⛔ fix-auth killed · 2m5s · $0.61\n")
    done = session(**DONE)
    assert replies.killed(done, already=True).startswith(
        "✅ fix-auth had already ended: completed."
    )


def test_resuming_says_what_it_was() -> None:
    text = replies.resumed(session(), Status.IN_TERMINAL, "go on")
    assert text == "▶️ fix-auth goes on (was in terminal) · web\ngo on"


def test_a_message_to_a_busy_session_can_be_said_now_or_withdrawn() -> None:
    text, actions = replies.queued(session(**WORKING), "m1", 1, 42)
    assert text == "⏳ Queued for fix-auth (1st). It is working, 0:42 into a turn."
    assert [action.label for action in actions] == [
        "Now, into this turn",
        "Interrupt and say",
        "Withdraw",
    ]
    assert [parse(action.line) for action in actions] == [
        Withdraw(session="id-fix-auth", message="m1", steer=True),
        Withdraw(session="id-fix-auth", message="m1", interrupt=True),
        Withdraw(session="id-fix-auth", message="m1"),
    ]


def test_a_message_behind_a_decision_says_what_to_do() -> None:
    text, _ = replies.queued(session(**WORKING, pending=pending(minutes=1)), "m1", 2, 42)
    assert text == "⏳ Queued for fix-auth (2nd). It waits for a decision first: /approvals."


# --- lists


def test_the_list_shows_who_needs_you_first() -> None:
    states = [
        session("old-idea", **DONE),
        session("nightly", **ASLEEP),
        session(**WORKING),
        session("docs", turn="t", pending=pending(minutes=3), cost_usd=0.08, cost_unknown=True),
    ]
    assert replies.listing(states, NOW).splitlines() == [
        "docs      ⚠️ waits for you 3 min  web  $0.08+?",
        "fix-auth  🟢 working 0:42         web  $0.75",
        "nightly   💤 asleep 3 h           web  $1.20",
        "old-idea  ✅ done 2 d ago         web  $0.40",
        "4 sessions · 1 working · 1 needs you",
    ]


def test_an_empty_list_says_how_to_start() -> None:
    assert replies.listing([], NOW) == "No sessions. /new and a prompt starts one."


def test_the_full_list_has_the_lines_of_the_seed() -> None:
    state = session(**WORKING, foreground={"console|me": 3}, claude_ids=("c1", "c2"), runs=2)
    assert replies.full_listing([state], NOW).splitlines() == [
        "🟢 fix-auth [id-fix-auth] (2m5s) — foreground, multi-turn",
        "   working 0:42 · $0.75",
        "   📁 /home/me/web",
        '   📝 "Users are logged out ⏎ after refresh"',
        "   🔗 c2",
        "   ↩️ Resumed, 2nd run",
        "1 session · 1 working",
    ]


def test_a_long_list_is_cut_and_counts_all() -> None:
    text = replies.listing([session(f"s{n}", **ASLEEP) for n in range(1000)], NOW)
    assert text.splitlines()[-2:] == ["… and 960 more", "1,000 sessions"]


@pytest.mark.parametrize("status", Status)
def test_every_status_has_an_icon_and_words(status: Status) -> None:
    state = session(status=status)
    assert replies.icon(state) == replies.ICONS[status]
    assert replies.doing(state, NOW)


def test_what_can_be_resumed() -> None:
    text = replies.resumable([session("nightly", **ASLEEP), session("old", **DONE)], NOW)
    assert text.splitlines() == [
        "💤 nightly · asleep 3 h · web · $1.20",
        '   📝 "Users are logged out ⏎ after refresh"',
        "✅ old · done 2 d ago · web · $0.40",
        '   📝 "Users are logged out ⏎ after refresh"',
        "/resume NAME goes on with one; --fork branches off.",
    ]
    assert replies.resumable([], NOW) == "There is nothing to resume."


# --- reading


def test_output_has_the_header_of_the_seed() -> None:
    text = replies.output(session(), ["one", "two"], NOW)
    header, rule, *rest = text.splitlines()
    assert header == "Session: fix-auth [id-fix-auth] | Status: RUNNING | Duration: 2m5s"
    assert rule == "─" * 60
    assert rest == ["one", "", "two"]
    assert replies.output(session(), [], NOW).endswith("\n(no output yet)")


def test_the_foreground_shows_what_was_missed() -> None:
    lines = replies.foreground(session(), ["b", "c"], ["a", "b", "c"], NOW).splitlines()
    assert lines[2:6] == ["📋 Catchup (2 missed outputs):", "b", "", "c"]
    assert lines[6:] == ["─" * 60, "What you type goes to fix-auth. /bg leaves."]
    assert "(1 missed output):" in replies.foreground(session(), ["b"], [], NOW)


def test_the_foreground_shows_the_last_lines_when_nothing_was_missed() -> None:
    text = replies.foreground(session(**DONE), [], ["a"], NOW)
    assert text.splitlines()[2:] == [
        "a",
        "─" * 60,
        "fix-auth has ended. /resume fix-auth goes on with it.",
    ]


# --- figures over runs


def sums(counts: dict[str, int], *spent: tuple[datetime, float], dearest: bool = False) -> Sums:
    most = Dearest(id="s1", name="fix-auth", cost_usd=0.75, prompt="go") if dearest else None
    return Sums(counts=counts, spending=list(spent), dearest=most)


def test_stats_say_what_was_counted() -> None:
    counts = {"launched": 4, "completed": 1, "failed": 1, "killed": 1}
    counts |= {"duration": 180_000, "unknown": 1}
    spent = [(before(days=1), 0.5), (before(hours=1), 0.3), (NOW, 0.1)]
    metrics = replies.tally(sums(counts, *spent, dearest=True), running=1, zone=UTC)
    assert metrics.by_status == {"completed": 1, "failed": 1, "killed": 1, "running": 1}
    assert metrics.cost_per_day == pytest.approx({"2026-03-03": 0.5, "2026-03-04": 0.4})
    assert replies.stats(metrics).splitlines() == [
        "📊 4 launched · $0.90",
        "1 completed · 1 failed · 1 killed · 1 running",
        "A run takes 1m0s on average.",
        "Most expensive: fix-auth [s1] $0.75",
        '   📝 "go"',
        "2026-03-04  $0.40",
        "2026-03-03  $0.50",
        "1 run cut off: what the last turn cost is unknown and not in the sum.",
    ]
    assert replies.metrics_data(metrics)["mostExpensive"] == {
        "id": "s1",
        "name": "fix-auth",
        "costUsd": 0.75,
        "prompt": "go",
    }


def test_a_day_is_one_of_the_zone_that_is_meant() -> None:
    late = sums({}, (datetime(2026, 3, 4, 23, 30, tzinfo=UTC), 1.0))
    for zone, day in (("UTC", "2026-03-04"), ("Asia/Kolkata", "2026-03-05")):
        assert replies.tally(late, running=0, zone=ZoneInfo(zone)).cost_per_day == {day: 1.0}


def test_stats_of_nothing() -> None:
    metrics = replies.tally(sums({}), running=0)
    assert replies.stats(metrics) == "📊 0 launched · $0"
    assert replies.metrics_data(metrics)["mostExpensive"] is None


def test_cost_says_what_is_unknown() -> None:
    state = session(cost_usd=0.75, turns=4, context_tokens=46_000, context_window=200_000)
    assert replies.cost(state) == "fix-auth: $0.75 of $5 · 4 turns · context 23 %"
    cut = replies.cost(session(runs=2, cost_unknown=True, run_cost_usd=0.1))
    assert cut.startswith("fix-auth: $0 of $5 · 0 turns · this run $0.10\nA turn was cut off")


# --- deciding


def waiting(
    ref: str, tool: str, values: dict[str, Any], kind: AskKind = AskKind.TOOL, minutes: float = 1
) -> Waiting:
    state = session()
    directory = state.spec.directory
    return Waiting(
        id=ref,
        look=lambda: state,
        ask=g.Ask(tool_use_id="t", tool_name=tool, input=values),
        kind=kind,
        call=ToolCall(
            tool_name=tool,
            input=values,
            directory=directory,
            session=state.id,
            project_directory=directory,
        ),
        answer=asyncio.get_running_loop().create_future(),
        asked_at=before(minutes=minutes),
    )


async def test_approvals_show_the_highest_risk_first() -> None:
    questions = {"questions": [{"question": "Which store?"}]}
    text, actions = replies.approvals(
        [
            waiting("low1", "Read", {"file_path": "/home/me/web/a.py"}),
            waiting("ask1", "AskUserQuestion", questions, AskKind.QUESTION),
            waiting("high", "Bash", {"command": "npm publish", "description": "Publish"}),
        ],
        NOW,
    )
    assert text.splitlines() == [
        "⚠️ 3 wait for you",
        "fix-auth (1) · high risk · 1 min · high",
        "   Bash  npm publish",
        "fix-auth (2) · question · 1 min · ask1",
        "   Which store?",
        "fix-auth (3) · low risk · 1 min · low1",
        "   Read  a.py",
    ]
    assert parse(actions[0].line) == Decide(approval="high", verdict=Verdict.ALLOW)
    assert actions[2].label == "fix-auth (2): your own answer"
    assert parse(actions[2].line + "green") == Answer(approval="ask1", answers=("green",))


async def test_each_that_waits_has_its_buttons_in_the_list() -> None:
    red = {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}
    _, asked = replies.approvals(
        [waiting("a1", "AskUserQuestion", {"questions": [red]}, AskKind.QUESTION)], NOW
    )
    assert [action.label for action in asked] == [
        "fix-auth: Red",
        "fix-auth: Blue",
        "fix-auth: your own answer",
    ]
    _, planned = replies.approvals(
        [waiting("a2", "ExitPlanMode", {"plan": "# Plan"}, AskKind.PLAN)], NOW
    )
    assert [action.label for action in planned] == [
        "Show fix-auth",
        "Go fix-auth",
        "Keep planning…",
    ]


@pytest.mark.parametrize(
    ("tool", "values"),
    [
        ("Bash", {"command": "echo " + "x" * 300}),
        ("Bash", {"command": "ls\nrm -r ~"}),
        ("Bash", {"command": "ls", "dangerouslyDisableSandbox": True}),
        ("Write", {"file_path": "/home/me/web/a.py", "content": "…"}),
        ("mcp__bank__send", {"to": "me", "amount": 5}),
    ],
)
async def test_what_is_not_shown_whole_cannot_be_allowed_from_the_list(
    tool: str, values: dict[str, Any]
) -> None:
    _, actions = replies.approvals([waiting("a1", tool, values)], NOW)
    assert [action.label for action in actions] == ["Show fix-auth", "Deny fix-auth"]


async def test_hidden_characters_are_spelled_out() -> None:
    text, _ = replies.approvals([waiting("a1", "Bash", {"command": "ls\u202e #rm"})], NOW)
    assert "ls⟨U+202E⟩ #rm" in text


def test_nothing_waits() -> None:
    assert replies.approvals([], NOW) == ("Nothing waits for you.", ())


def rule(**changes: Any) -> Rule:
    given: dict[str, Any] = {
        "id": "r1",
        "verdict": Verdict.ALLOW,
        "tool": "Bash",
        "pattern": "npm run *",
        "scope": Scope.PROJECT,
        "directory": "/home/me/web",
        "by": "owner (Telegram)",
        "at": NOW,
    }
    return Rule(**given | changes)


def test_a_decision_says_who_and_when_and_the_rule_it_made() -> None:
    receipt = Receipt(
        approval_id="a1",
        session="s",
        tool_name="Bash",
        decision="allow",
        scope=Scope.PROJECT,
        by="owner (Telegram)",
        at=NOW,
        rule=rule(),
    )
    assert replies.decided(session(), receipt, zone=UTC).splitlines() == [
        "✅ Always allowed here by owner (Telegram) 14:03",
        "fix-auth · Bash",
        "New rule r1: Bash(npm run *) (/rules revoke r1)",
    ]


@pytest.mark.parametrize(
    ("decision", "more", "line"),
    [
        ("allow", {"given": True}, "✅ Allowed once by me 14:03 · given to Claude"),
        ("allow", {"given": True, "seen": True}, "✅ Allowed once by me 14:03 · result seen"),
        ("allow", {"edited": True}, "✅ Allowed once, with changes, by me 14:03"),
        ("allow", {"scope": Scope.SESSION}, "✅ Allowed for this session by me 14:03"),
        ("deny", {"reason": "use\nstaging"}, "❌ Denied by me 14:03 · “use ⏎ staging”"),
        ("cancelled", {}, "▫️ Cancelled by me 14:03"),
    ],
)
def test_a_verdict_in_one_line(decision: str, more: dict[str, Any], line: str) -> None:
    assert replies.verdict_line(decision, by="me", at=NOW, zone=UTC, **more) == line


def test_rules_show_denials_first() -> None:
    denied = rule(id="r2", verdict=Verdict.DENY, pattern="rm *", scope=Scope.USER, directory=None)
    text, actions = replies.rules([rule(), denied], ["/home/me/web"])
    assert text.splitlines() == [
        "⛔ r2  Bash(rm *)",
        "   everywhere · by owner (Telegram) 2026-03-04",
        "✅ r1  Bash(npm run *)",
        "   in /home/me/web · by owner (Telegram) 2026-03-04",
        "Trusted directories:",
        "   /home/me/web",
    ]
    assert [parse(action.line) for action in actions] == [
        RevokeRule(rule="r2"),
        RevokeRule(rule="r1"),
    ]
    assert actions[0].label == "Revoke Bash(rm *) r2"
    assert replies.rules([])[0].startswith("No rules yet")


# --- the rest


def test_tasks_can_be_stopped() -> None:
    task = BackgroundTask(id="b1", description="npm run dev", kind="shell")
    text, actions = replies.tasks([session(tasks=(task,)), session("idle")])
    assert text == "fix-auth\n   b1  npm run dev (shell)"
    assert actions == (Action(label="Stop npm run dev", line="/tasks stop id-fix-auth b1"),)
    assert replies.tasks([session()]) == ("Nothing runs in the background.", ())


def test_help_names_every_command_in_a_line_each() -> None:
    text = replies.help_text()
    assert "\n/new: start a session\n" in text
    assert max(map(len, text.splitlines())) < 100
    assert "Also: /claude_fg" in replies.help_text("fg")
    assert replies.help_text("trust").startswith("Let a directory's own hooks, MCP servers")


JUNK = st.text(st.characters(exclude_categories=[]), max_size=200)


@settings(deadline=None)
@given(JUNK, JUNK)
def test_nobody_breaks_a_line_of_a_list_with_a_prompt(prompt: str, directory: str) -> None:
    state = session(prompt=prompt, spec={"directory": f"/{directory}"})
    for text in (
        replies.full_listing([state], NOW),
        replies.listing([state], NOW),
        replies.launched(state)[0],
        replies.responded(state, prompt),
    ):
        assert text.encode()
        assert len(text.splitlines()) <= 5
