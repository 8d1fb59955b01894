"""Approvals, plans and questions: asked everywhere, decided everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from claude_sessions import events as e
from claude_sessions.channel import Kind, MemoryChannel
from claude_sessions.model import AskKind, PermissionMode, Reason, Risk, Scope, Status
from claude_sessions.wording import local_time
from tests.router.stage import HERE, PHONE, Stage, kinds, only

QUESTION = {
    "question": "Which store?",
    "options": [{"label": "cookie", "description": "safe"}, {"label": "localStorage"}],
}


def publish(**more: Any) -> e.ApprovalRequested:
    return e.ApprovalRequested(
        approval_id="a1",
        tool_use_id="t1",
        tool_name="Bash",
        input={"command": "npm publish", "description": "Publish the package"},
        risk_level=Risk.HIGH,
        **more,
    )


def resolved(**more: Any) -> e.ApprovalResolved:
    return e.ApprovalResolved(
        approval_id="a1",
        tool_use_id="t1",
        tool_name="Bash",
        **{"decision": "allow", "by": "owner (Telegram)", **more},
    )


def card(channel: MemoryChannel) -> str:
    """What the card of this channel shows now."""
    (shown,) = [n.text for n in channel.shown.values() if n.kind is Kind.CARD]
    return shown


async def test_a_tool_is_asked_for_with_what_it_would_do(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.put("auth", publish(suggestion="Bash(npm publish *)"))
    asked = only(here, Kind.CARD)
    assert asked.text.splitlines() == [
        "⚠️ fix-auth asks · high risk",
        "Bash in /home/me/web",
        "  npm publish",
        "“Publish the package”",
    ]
    assert [(a.label, a.line, a.needs_text) for a in asked.actions] == [
        ("Allow", "/allow a1", False),
        ("For this session", "/allow a1 --scope session", False),
        ("Always here", "/allow a1 --scope project", False),
        ("Deny", "/deny a1", False),
        ("Deny + tell why", "/deny a1 ", True),
    ]


async def test_without_a_rule_to_suggest_there_is_no_lasting_answer(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.put("auth", publish())
    assert [a.label for a in only(here, Kind.CARD).actions] == ["Allow", "Deny", "Deny + tell why"]


async def test_a_plan_can_be_begun_or_sent_back(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    plan = e.ApprovalRequested(
        approval_id="p1",
        tool_use_id="t1",
        tool_name="ExitPlanMode",
        kind=AskKind.PLAN,
        input={"plan": "# Fix it\n1. read\n2. write"},
    )
    await stage.put("auth", plan)
    asked = only(here, Kind.CARD)
    assert asked.text.startswith("📋 fix-auth has a plan\n# Fix it")
    assert [(a.label, a.line) for a in asked.actions] == [
        ("Go", "/allow p1"),
        ("Go, accept edits", "/allow p1 --mode acceptEdits"),
        ("Keep planning…", "/deny p1 "),
    ]


async def test_a_question_offers_its_options_and_free_text(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    asks = e.InputRequested(approval_id="q1", tool_use_id="t1", questions=(QUESTION,))
    await stage.put("auth", asks)
    asked = only(here, Kind.CARD)
    assert asked.text.startswith("❓ fix-auth asks\nWhich store?")
    assert [(a.label, a.line, a.needs_text) for a in asked.actions] == [
        ("cookie", "/answer q1 1", False),
        ("localStorage", "/answer q1 2", False),
        ("Your own answer", "/answer q1 ", True),
    ]


async def test_several_questions_are_answered_in_one_line(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    asks = e.InputRequested(approval_id="q1", tool_use_id="t1", questions=(QUESTION, QUESTION))
    await stage.put("auth", asks)
    (action,) = only(here, Kind.CARD).actions
    assert (action.line, action.needs_text) == ("/answer q1 ", True)


async def test_a_question_from_a_careless_model_is_still_asked(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    odd: tuple[dict[str, Any], ...] = (
        {"question": None, "options": ["just text", {"nolabel": 1}]},
        {},
    )
    await stage.put("auth", e.InputRequested(approval_id="q", tool_use_id="t", questions=odd))
    assert Kind.CARD in kinds(here)


async def test_everybody_who_was_asked_sees_how_it_was_decided(stage: Stage) -> None:
    here, phone, other = stage.channel(), stage.channel(PHONE), stage.channel("telegram|7")
    await stage.launch(front=(PHONE,))
    await stage.put("auth", publish())
    await stage.put("auth", resolved())
    when = local_time(stage.clock.now())
    said = f"✅ Allowed once by owner (Telegram) {when}"
    assert card(here) == card(phone) == f"{said}\nfix-auth: Bash  npm publish"
    await stage.put("auth", e.ApprovalDelivered(approval_id="a1", tool_use_id="t1"))
    said += " · given to Claude"
    assert card(here) == card(phone) == f"{said}\nfix-auth: Bash  npm publish"
    await stage.put("auth", e.ToolCompleted(tool_use_id="t1"))
    said += " · result seen"
    assert card(here) == card(phone) == f"{said}\nfix-auth: Bash  npm publish"
    assert all(not n.actions for n in here.shown.values() if n.kind is Kind.CARD)
    assert other.sent == []


async def test_the_outcome_says_what_how_far_and_why(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    for answer, words in [
        (resolved(scope=Scope.SESSION), "Allowed for this session by"),
        (resolved(scope=Scope.PROJECT), "Always allowed here by"),
        (resolved(scope=Scope.PROJECT, decision="deny"), "Always denied here by"),
        (resolved(set_mode=PermissionMode.ACCEPT_EDITS), "mode acceptEdits"),
        (resolved(modified_input={"command": "ls"}), "with changes"),
        (resolved(decision="deny", reason="use staging"), "use staging"),
        (resolved(decision="cancelled", reason="withdrawn"), "No longer asked"),
    ]:
        await stage.put("auth", publish(), answer)
        assert words in here.edits[-1][1].text
        await stage.put("auth", e.ToolCompleted(tool_use_id="t1"))


async def test_an_answer_is_repeated_to_all(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.put(
        "auth",
        e.InputRequested(approval_id="q1", tool_use_id="t1", questions=(QUESTION,)),
        e.InputReceived(
            approval_id="q1", tool_use_id="t1", answers={"Which store?": "cookie"}, by="owner (me)"
        ),
    )
    assert "✅ Answered by owner (me)" in card(here)
    assert ": cookie" in card(here)


async def test_what_a_rule_decided_shows_no_card(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.put("auth", resolved(by="rule r1"))
    assert Kind.CARD not in kinds(here)


async def test_one_who_joins_is_asked_what_is_still_open(stage: Stage) -> None:
    here, phone = stage.channel(), stage.channel(PHONE)
    await stage.launch()
    await stage.put("auth", publish())
    await stage.put("auth", e.Foregrounded(channel=PHONE), e.Foregrounded(channel=HERE))
    assert kinds(here).count(Kind.CARD) == kinds(phone).count(Kind.CARD) == 1
    await stage.put("auth", resolved())
    assert card(here) == card(phone)


async def test_a_card_decided_before_somebody_joined_is_not_asked_again(stage: Stage) -> None:
    phone = stage.channel(PHONE)
    await stage.launch()
    await stage.put("auth", publish(), resolved(), e.Foregrounded(channel=PHONE))
    assert phone.sent == []


async def test_a_card_comes_after_the_words_before_it(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.say("auth", "I will ")
    await stage.say("auth", "publish.", offset=7)
    await stage.put("auth", publish())
    assert here.edits[0][1].text == "I will publish."


async def test_the_end_of_a_session_leaves_no_card_to_edit(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.put("auth", publish(), resolved(decision="cancelled"))
    await stage.put("auth", e.SessionEnded(status=Status.KILLED, reason=Reason.USER))
    edits = len(here.edits)
    await stage.put("auth", e.ApprovalDelivered(approval_id="a1", tool_use_id="t1"))
    assert len(here.edits) == edits


async def test_only_the_result_of_what_was_asked_for_is_a_receipt(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.put("auth", publish(), e.ToolCompleted(tool_use_id="t1"))
    assert here.edits == []
    await stage.put("auth", resolved(), e.ToolCompleted(tool_use_id="other"))
    assert "result seen" not in card(here)
    await stage.put("auth", e.ToolCompleted(tool_use_id="t1"))
    shown = card(here)
    assert "result seen" in shown
    await stage.put("auth", e.ApprovalDelivered(approval_id="a1", tool_use_id="t1"))
    await stage.put("auth", e.ToolCompleted(tool_use_id="t1"))
    assert card(here) == shown


@pytest.mark.parametrize("end", [e.TurnCompleted(), e.TurnInterrupted(reason=Reason.USER)])
async def test_a_card_waits_for_its_result_no_longer_than_its_turn(
    stage: Stage, end: e.Payload
) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.put("auth", publish(), resolved())
    await stage.put("auth", e.ApprovalDelivered(approval_id="a1", tool_use_id="t1"))
    await stage.put("auth", end)
    await stage.put("auth", e.ToolCompleted(tool_use_id="t1"))
    assert card(here).splitlines()[0].endswith("given to Claude")


async def test_a_turn_that_ends_beside_takes_no_card_with_it(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.put("auth", publish(), resolved())
    await stage.put("auth", e.TurnCompleted(), turn="beside")
    await stage.put("auth", e.ToolCompleted(tool_use_id="t1"))
    assert "result seen" in card(here)
