from __future__ import annotations

from claude_sessions.channel import Action, Kind, Notification
from claude_sessions.orchestrator import texts
from claude_sessions.state import SessionState
from tests.commands.test_replies import NOW, session

STATE = session(id="abcd1234", run_cost_usd=0.01234, origin="discord|acct|123")


def told(kind: Kind, text: str = "", actions: tuple[Action, ...] = ()) -> Notification:
    return Notification(kind=kind, session="abcd1234", name="fix-auth", text=text, actions=actions)


def message(kind: Kind, *blocks: str, state: SessionState = STATE, text: str = "") -> str | None:
    return texts.message(state, told(kind, text), blocks, NOW)


def test_people_read_what_a_completed_session_cost_and_said() -> None:
    said = message(Kind.COMPLETED, "First.", "The `token` is **fixed**.")
    assert said == (
        "✅ [fix-auth] Completed\n📁 /home/me/web\n💰 $0.0123\n\nFirst.\nThe token is fixed."
    )


def test_one_that_said_nothing_has_no_preview() -> None:
    assert message(Kind.COMPLETED) == "✅ [fix-auth] Completed\n📁 /home/me/web\n💰 $0.0123"


def test_people_read_what_a_failed_one_was_asked_and_why_it_failed() -> None:
    failed = session(prompt="p" * 80, message="Claude died (exit code 1).")
    assert message(Kind.FAILED, state=failed) == (
        f'❌ [fix-auth] Failed\n📁 /home/me/web\n📝 "{"p" * 59}…"\n⚠️ Claude died (exit code 1).'
    )
    assert message(Kind.KILLED) == (
        '⛔ [fix-auth] Killed\n📁 /home/me/web\n📝 "Users are logged out ⏎ after refresh"'
    )


def test_people_read_of_a_limit_and_of_a_long_run() -> None:
    limit = message(Kind.LIMIT, text="⛔ fix-auth reached a limit\nThe budget is spent.")
    assert limit == (
        "⛔ Session limit reached — fix-auth [abcd1234] (2m5s)\n📁 /home/me/web"
        "\n⚠️ The budget is spent."
    )
    assert message(Kind.LONG_RUNNING) == (
        "⏱️ Session fix-auth [abcd1234] running for 2m5s\n📁 /home/me/web\n"
        'Use claude_output(session="abcd1234", full=true) to read all of it.'
    )


def test_people_are_not_written_to_about_the_rest() -> None:
    rest = set(Kind) - set(texts.ENDINGS) - {Kind.LIMIT, Kind.LONG_RUNNING}
    assert {message(kind) for kind in rest} == {None}


def test_the_program_reads_who_ended_how_and_what_to_call() -> None:
    assert texts.event(STATE, told(Kind.COMPLETED), ["Done."]) == (
        "✅ Claude Code session completed.\nName: fix-auth | ID: abcd1234\nStatus: completed\n\n"
        'Done.\n\nUse claude_output(session="abcd1234", full=true) to read all of it.'
    )


def test_the_program_reads_who_waits_and_how_to_answer() -> None:
    assert texts.event(STATE, told(Kind.WAITING), []) == (
        "💬 Multi-turn session is waiting for input.\nName: fix-auth | ID: abcd1234\n"
        "Origin: discord|acct|123\n\n(no output yet)\n\n"
        'Use claude_respond(session="abcd1234", message="...") to answer.\n'
        'Use claude_output(session="abcd1234", full=true) to read all of it.'
    )


def test_the_program_reads_why_a_turn_failed() -> None:
    failed = told(Kind.WAITING, "⚠️ fix-auth: the turn failed\nAPI error")
    assert "the turn failed\nAPI error" in (texts.event(STATE, failed, ["before"]) or "")


def test_the_program_reads_what_is_to_be_decided_and_how() -> None:
    ways = (
        Action(label="Allow", line="/allow q1"),
        Action(label="Deny", line="/deny q1"),
        Action(label="Deny + tell why", line="/deny q1 ", needs_text=True),
    )
    text = texts.event(STATE, told(Kind.CARD, "⚠️ fix-auth asks\nBash  rm", ways), []) or ""
    assert text.startswith("💬 Multi-turn session is waiting for a decision.\nName: fix-auth")
    assert "\n\n⚠️ fix-auth asks\nBash  rm\n\nDecide it with one of: /allow q1, /deny q1\n" in text


def test_a_preview_is_the_end_of_the_last_five_blocks() -> None:
    assert texts.preview([str(n) for n in range(9)]) == "4\n5\n6\n7\n8"
    assert texts.preview(["x" * 400, "y" * 400]) == "x" * 99 + "\n" + "y" * 400
