"""What somebody sees who watches a session."""

from __future__ import annotations

from claude_sessions import events as e
from claude_sessions.channel import Kind, MemoryChannel
from claude_sessions.model import Reason
from tests.router.stage import HERE, PHONE, Stage, kinds, only, texts


async def test_the_first_words_go_out_at_once(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.say("auth", "I found")
    streamed = only(here, Kind.STREAM)
    assert (streamed.text, streamed.final, streamed.name) == ("I found", False, "fix-auth")


async def test_further_words_wait_for_the_interval_and_come_as_one_edit(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    for offset, word in enumerate("abcdef"):
        await stage.say("auth", word, offset=offset)
    assert here.edits == []
    await stage.pass_time(0.5)
    assert [n.text for _, n in here.edits] == ["abcdef"]
    await stage.pass_time(5)
    assert len(here.edits) == 1


async def test_there_is_at_most_one_edit_an_interval(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    for offset in range(40):
        await stage.say("auth", "x", offset=offset)
        await stage.pass_time(0.1)
    assert 7 <= len(here.edits) <= 8
    await stage.pass_time(0.5)
    assert here.edits[-1][1].text == "x" * 40


async def test_the_finished_block_is_the_last_edit_of_the_same_message(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.say("auth", "I found")
    await stage.put("auth", e.AssistantMessage(text="I found it.", block="b1"))
    assert texts(here, Kind.STREAM) == ["I found"]
    ref, final = here.edits[-1]
    assert (final.text, final.final) == ("I found it.", True)
    assert here.shown[ref.id] == final
    await stage.pass_time(2)
    assert len(here.edits) == 1


async def test_a_block_that_was_not_streamed_is_sent_whole(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.put("auth", e.AssistantMessage(text="All of it."))
    assert only(here, Kind.STREAM).final
    assert here.edits == []


async def test_a_tool_line_comes_after_the_words_before_it(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.say("auth", "Let me")
    await stage.say("auth", " look.", offset=6)
    run = e.ToolRequested(tool_name="Bash", tool_use_id="t1", input={"command": "npm test"})
    await stage.put("auth", run)
    assert here.edits[0][1].text == "Let me look."
    assert only(here, Kind.TOOL).text == "🔧 Bash — npm test"
    assert kinds(here)[-2:] == [Kind.STREAM, Kind.TOOL]


async def test_a_tool_line_shows_paths_as_seen_from_the_session(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    path = {"file_path": "/home/me/web/src/auth.ts"}
    await stage.put("auth", e.ToolRequested(tool_name="Read", tool_use_id="t1", input=path))
    assert only(here, Kind.TOOL).text == "🔧 Read — src/auth.ts"


async def test_a_question_has_a_card_and_no_tool_line(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    ask = e.ToolRequested(tool_name="AskUserQuestion", tool_use_id="t1", input={"questions": []})
    await stage.put("auth", ask)
    assert Kind.TOOL not in kinds(here)


async def test_what_a_subagent_says_is_not_the_answer(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.put("auth", e.AssistantMessage(text="inner", parent_tool_use_id="t1"))
    assert Kind.STREAM not in kinds(here)


async def test_the_end_of_a_turn_is_one_quiet_line(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    over = e.TurnCompleted(
        duration_ms=118_000, cost_usd=0.14, context_tokens=46_000, context_window=200_000
    )
    await stage.put("auth", over)
    assert only(here, Kind.WAITING).text == "fix-auth · 1:58 · $0.14 · context 23 %"
    assert only(here, Kind.WAITING).actions == ()


async def test_a_turn_that_changed_files_ends_with_how_many_and_what_to_do(stage: Stage) -> None:
    here, phone = stage.channel(), stage.channel(PHONE)
    await stage.launch(origin=PHONE, front=(HERE,))
    await stage.put("auth", e.TurnStarted(message_ids=("m1",)), turn="turn1")
    for name, added, removed in (("a", 20, 6), ("b", 1, 0), ("c", 0, 0)):
        output = e.ToolOutput(tool_use_id=name, content="", file=name, added=added, removed=removed)
        await stage.put("auth", output)
    await stage.put("auth", e.TurnCompleted(duration_ms=118_000, cost_usd=0.14))
    assert only(here, Kind.WAITING).text == "fix-auth · 1:58 · 3 files +21 −6 · $0.14"
    assert [(a.label, a.line) for a in only(here, Kind.WAITING).actions] == [
        ("Diff", "/diff auth"),
        ("Undo turn", "/undo auth"),
    ]
    labels = [action.label for action in only(phone, Kind.WAITING).actions]
    assert labels == ["Read", "Reply", "Diff"]


async def test_an_undo_is_told_in_front_but_not_twice_to_whoever_did_it(stage: Stage) -> None:
    here, phone = MemoryChannel(HERE), stage.channel(PHONE)
    stage.router.attach(here, caller="me@console")
    await stage.launch(front=(HERE, PHONE))
    await stage.put("auth", e.TurnUndone(files=("/a",)), caller="me@console")
    told = "fix-auth: turn undone, 1 file is as before. What commands changed was not undone."
    assert only(phone, Kind.NOTICE).text == told
    assert Kind.NOTICE not in kinds(here)


async def test_one_who_joins_mid_block_first_gets_the_block_so_far(stage: Stage) -> None:
    here, phone = stage.channel(), stage.channel(PHONE)
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.say("auth", "The handler ")
    await stage.say("auth", "clears it", offset=12)
    await stage.put("auth", e.Foregrounded(channel=PHONE))
    assert only(phone, Kind.STREAM).text == "The handler clears it"
    await stage.put("auth", e.AssistantMessage(text="The handler clears it.", block="b1"))
    assert [n.text for _, n in phone.edits] == ["The handler clears it."]
    assert here.edits[-1][1].text == "The handler clears it."


async def test_one_who_joins_later_is_not_told_what_came_before(stage: Stage) -> None:
    phone = stage.channel(PHONE)
    await stage.launch()
    await stage.put(
        "auth", e.AssistantMessage(text="Old.", block="b1"), e.Foregrounded(channel=PHONE)
    )
    assert phone.sent == []


async def test_one_who_leaves_mid_block_keeps_the_words_it_has(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.say("auth", "Half a")
    await stage.say("auth", " sentence", offset=6)
    await stage.put("auth", e.Backgrounded(channel=HERE, position=0))
    assert (here.edits[-1][1].text, here.edits[-1][1].final) == ("Half a sentence", True)
    await stage.say("auth", " more", offset=15)
    await stage.pass_time(5)
    assert len(here.edits) == 1


async def test_an_interrupted_turn_ends_its_message(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    await stage.say("auth", "I was")
    await stage.say("auth", " about", offset=5)
    cut = e.TurnInterrupted(reason=Reason.USER, partial_text="I was about", duration_ms=42_000)
    await stage.put("auth", cut)
    assert (here.edits[-1][1].text, here.edits[-1][1].final) == ("I was about", True)
    assert only(here, Kind.WAITING).text == "⏹ fix-auth · interrupted · 0:42"


async def test_a_failed_turn_shows_the_error(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.turn()
    failed = e.TurnCompleted(reason="api_error", is_error=True, error="API Error: overloaded")
    await stage.put("auth", failed)
    assert "API Error: overloaded" in only(here, Kind.WAITING).text


async def test_the_result_of_a_slash_command_is_shown(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    await stage.put("auth", e.SlashResult(command="cost", output="Total: $0.10"))
    assert only(here, Kind.STREAM).text == "Total: $0.10"


async def test_two_sessions_are_throttled_apart(stage: Stage) -> None:
    here = stage.channel()
    for session in ("auth", "docs"):
        await stage.launch(session, front=(HERE,))
        await stage.turn(session)
        await stage.say(session, f"{session} speaks")
    assert texts(here, Kind.STREAM) == ["auth speaks", "docs speaks"]
