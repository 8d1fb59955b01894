"""What the channel a session came from hears while it does not watch."""

from __future__ import annotations

from claude_sessions import events as e
from claude_sessions.channel import Kind, MemoryChannel
from claude_sessions.commands.replies import UNTRUSTED
from claude_sessions.model import Reason, Status
from tests.router.stage import HERE, PHONE, Stage, kinds, only, texts


async def test_a_launch_is_told_with_what_to_do_about_it(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(budget_usd=5)
    launched = only(here, Kind.LAUNCHED)
    assert launched.text == "🟢 fix-auth · web · $5\nUsers are logged out"
    assert [(a.label, a.line) for a in launched.actions] == [
        ("Foreground", "/fg auth"),
        ("Stop", "/kill auth"),
    ]


async def test_a_new_directory_is_told_and_can_be_trusted(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(trusted=False)
    launched = only(here, Kind.LAUNCHED)
    assert launched.text.splitlines()[-1] == UNTRUSTED
    assert launched.actions[-1].line == "/trust auth"


async def test_a_button_means_its_session_whoever_has_the_name_by_then(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.pass_time(600)
    await stage.put("auth", e.TurnCompleted())
    await stage.put("auth", e.SessionEnded(status=Status.COMPLETED, reason=Reason.DONE))
    lines = [action.line.split() for n in here.sent for action in n.actions]
    assert {Kind.WAITING, Kind.LONG_RUNNING, Kind.COMPLETED} < set(kinds(here))
    assert {who for _, who, *_ in lines} == {"auth"}


async def test_what_was_answered_at_the_channels_own_door_is_not_told_again(stage: Stage) -> None:
    here, phone = MemoryChannel(HERE), stage.channel(PHONE)
    stage.router.attach(here, caller="owner (terminal)")
    await stage.launch(caller="owner (terminal)")
    await stage.launch("docs", caller="agent (MCP)")
    await stage.put("auth", e.Foregrounded(channel=PHONE))
    ended = e.SessionEnded(status=Status.KILLED, reason=Reason.USER)
    await stage.put("auth", ended, caller="owner (terminal)")
    await stage.put("docs", ended, caller="agent (MCP)")
    assert [(n.name, n.kind) for n in here.sent] == [
        ("fix-docs", Kind.LAUNCHED),
        ("fix-docs", Kind.KILLED),
    ]
    assert kinds(phone) == [Kind.KILLED]


async def test_only_the_end_of_a_turn_is_told_with_the_last_words(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.say("auth", "The **cookie**")
    await stage.put(
        "auth",
        e.ToolRequested(tool_name="Read", tool_use_id="t", input={"file_path": "a"}),
        e.AssistantMessage(text="The **cookie** stays.", block="b1"),
        e.TurnCompleted(duration_ms=760_000, cost_usd=0.61),
    )
    assert kinds(here) == [Kind.LAUNCHED, Kind.WAITING]
    waiting = only(here, Kind.WAITING)
    assert waiting.text == "✅ fix-auth is done · 12:40 · $0.61\nThe cookie stays."
    assert not waiting.foreground


async def test_waiting_is_told_once_a_turn(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    for turn in ("turn1", "turn2"):
        await stage.turn(turn=turn)
        await stage.put("auth", e.TurnCompleted(), turn=turn)
        await stage.put("auth", e.TurnCompleted(), turn=turn)
    assert len(texts(here, Kind.WAITING)) == 2


async def test_a_session_with_more_to_do_does_not_wait(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.put("auth", e.UserMessage(message_id="m2", text="and then"), e.TurnCompleted())
    assert Kind.WAITING not in kinds(here)


async def test_a_channel_that_watches_is_told_nothing_twice(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.put("auth", e.AssistantMessage(text="Done.", block="b1"), e.TurnCompleted())
    await stage.put("auth", e.SessionEnded(status=Status.COMPLETED, reason=Reason.DONE))
    assert kinds(here) == [Kind.LAUNCHED, Kind.STREAM, Kind.WAITING, Kind.COMPLETED]
    assert "Done." not in only(here, Kind.COMPLETED).text


async def test_a_strange_channel_hears_nothing(stage: Stage) -> None:
    phone = stage.channel(PHONE)
    await stage.launch()
    await stage.turn()
    await stage.put("auth", e.TurnCompleted())
    assert phone.sent == []


async def test_a_single_turn_says_only_that_it_is_done(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(once=True)
    await stage.turn()
    await stage.put("auth", e.AssistantMessage(text="42", block="b1"), e.TurnCompleted())
    ended = e.SessionEnded(status=Status.COMPLETED, reason=Reason.DONE, duration_ms=2_000)
    await stage.put("auth", ended)
    assert kinds(here) == [Kind.LAUNCHED, Kind.COMPLETED]
    assert only(here, Kind.COMPLETED).text == "✅ fix-auth is done · 0:02\n42"


async def test_a_failure_says_why(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    ended = e.SessionEnded(status=Status.FAILED, reason=Reason.CRASH, message="Claude died.")
    await stage.put("auth", ended)
    assert only(here, Kind.FAILED).text == "❌ fix-auth failed · 0:00\nClaude died."


async def test_a_kill_says_by_whom(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    ended = e.SessionEnded(status=Status.KILLED, reason=Reason.USER)
    await stage.put("auth", ended, caller="owner (Telegram)")
    assert "By owner (Telegram)." in only(here, Kind.KILLED).text


async def test_a_spent_budget_is_told_once_and_instead_of_the_failure(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.put(
        "auth",
        e.TurnCompleted(reason="budget_exhausted", is_error=True, error="no money"),
        e.LimitReached(kind="budget", message="The budget of $5.00 is spent."),
        e.SessionEnded(status=Status.FAILED, reason=Reason.BUDGET, message="spent"),
    )
    assert kinds(here) == [Kind.LAUNCHED, Kind.LIMIT]
    assert "The budget of $5.00 is spent." in only(here, Kind.LIMIT).text


async def test_a_usage_limit_is_told_once_until_it_is_another(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    for turn in ("turn1", "turn2"):
        await stage.turn(turn=turn)
        await stage.put(
            "auth",
            e.LimitReached(kind="usage", message="Used up.", resets_at=1_800_000_000.0),
            e.TurnCompleted(reason="api_error", is_error=True, error="429"),
        )
    assert kinds(here) == [Kind.LAUNCHED, Kind.LIMIT]
    await stage.put("auth", e.LimitReached(kind="usage", message="Again.", resets_at=1.9e9))
    assert len(texts(here, Kind.LIMIT)) == 2


async def test_a_turn_that_takes_long_is_told_once_a_run(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.pass_time(599)
    assert Kind.LONG_RUNNING not in kinds(here)
    await stage.pass_time(1)
    assert "10:00" in only(here, Kind.LONG_RUNNING).text
    await stage.pass_time(3600)
    await stage.put("auth", e.TurnCompleted())
    await stage.turn(turn="turn2")
    await stage.pass_time(3600)
    assert len(texts(here, Kind.LONG_RUNNING)) == 1


async def test_a_long_turn_is_no_news_to_those_who_watch_or_are_asked(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.launch("docs")
    for session in ("auth", "docs"):
        await stage.turn(session)
    asked = e.ApprovalRequested(approval_id="a1", tool_use_id="t", tool_name="Bash", input={})
    await stage.put("docs", asked)
    await stage.pass_time(1200)
    assert Kind.LONG_RUNNING not in kinds(here)


async def test_short_turns_never_add_up_to_a_long_one(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    for turn in ("turn1", "turn2"):
        await stage.turn(turn=turn)
        await stage.pass_time(400)
        await stage.put("auth", e.TurnCompleted(), turn=turn)
    assert Kind.LONG_RUNNING not in kinds(here)


async def test_only_notices_that_need_a_person_reach_the_background(stage: Stage) -> None:
    here, phone = stage.channel(), stage.channel(PHONE)
    await stage.launch(front=(PHONE,))
    await stage.put(
        "auth",
        e.Noticed(code="api_retry", message="The API answered 529; try 2 of 10 in 1 s."),
        e.Noticed(code="login", message="Claude is not logged in."),
    )
    assert texts(here, Kind.NOTICE) == ["fix-auth: Claude is not logged in."]
    assert len(texts(phone, Kind.NOTICE)) == 2


async def test_an_expired_login_is_told_once_and_instead_of_the_failure(stage: Stage) -> None:
    here, phone = stage.channel(), stage.channel(PHONE)
    await stage.launch(front=(PHONE,))
    await stage.turn()
    failed = e.TurnCompleted(reason="api_error", is_error=True, error="401 expired")
    await stage.put("auth", e.Noticed(code="login", message="Claude is not logged in."), failed)
    assert kinds(here) == [Kind.LAUNCHED, Kind.NOTICE]
    assert kinds(phone) == [Kind.NOTICE]
    await stage.turn(turn="turn2")
    await stage.put("auth", failed)
    assert "401 expired" in only(here, Kind.WAITING).text


async def test_a_login_that_expired_does_not_hide_another_failure(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.turn()
    await stage.put(
        "auth",
        e.Noticed(code="login", message="Claude is not logged in."),
        e.TurnCompleted(reason="max_turns", is_error=True, error="Too many turns."),
    )
    assert "Too many turns." in only(here, Kind.WAITING).text


async def test_a_slash_command_that_is_refused_is_told_to_all(stage: Stage) -> None:
    here, phone = stage.channel(), stage.channel(PHONE)
    await stage.launch(front=(PHONE,))
    said = "This session has no /frobnicate. It offers: /compact."
    await stage.put("auth", e.SlashResult(command="frobnicate", output=said, is_error=True))
    assert only(here, Kind.NOTICE).text == only(phone, Kind.NOTICE).text == f"fix-auth: {said}"
    assert not only(here, Kind.NOTICE).foreground


async def test_a_slash_command_whose_turn_fails_is_told_once(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.put(
        "auth",
        e.SlashResult(command="compact", output="Nothing to compact.", is_error=True),
        e.TurnCompleted(is_error=True, error="Nothing to compact."),
    )
    assert kinds(here) == [Kind.LAUNCHED, Kind.WAITING]
    assert "Nothing to compact." in only(here, Kind.WAITING).text


async def test_storage_trouble_concerns_every_channel(stage: Stage) -> None:
    channels = [stage.channel(), stage.channel(PHONE)]
    stage.log.signal(e.StorageTrouble(session="", message="The disk is full."))
    await stage.settle()
    assert all(texts(channel, Kind.NOTICE) == ["The disk is full."] for channel in channels)


async def test_a_shutdown_is_not_told_session_by_session(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.put(
        "auth", e.TurnInterrupted(reason=Reason.SHUTDOWN), e.SessionAsleep(reason=Reason.SHUTDOWN)
    )
    assert kinds(here) == [Kind.LAUNCHED]


async def test_a_session_known_only_from_before_is_followed_from_its_live_state(
    stage: Stage,
) -> None:
    await stage.launch()
    await stage.put("auth", e.SessionAsleep(reason=Reason.IDLE))
    here = stage.channel()
    await stage.put("auth", e.SessionWoken(), e.SessionStarted())
    await stage.turn()
    await stage.put("auth", e.TurnCompleted())
    assert kinds(here) == [Kind.WAITING]
