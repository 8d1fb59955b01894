import re

import pytest

from claude_sessions.demo import (
    Gate,
    Kind,
    Request,
    Script,
    ScriptError,
    bash,
    drop,
    empty,
    error,
    overloaded,
    parallel,
    plan,
    read,
    say,
    stop,
    think,
    usage,
)
from claude_sessions.demo.script import group
from claude_sessions.demo.steps import Step, Text
from tests.demo.making import request


def said(script: Script, asked: Request) -> str:
    step = script.answer(asked).steps[-1]
    assert isinstance(step, Text)
    (part,) = step.parts
    return part(asked) if callable(part) else str(part)


def sizes(*steps: Step) -> list[int]:
    return [len(answer.steps) for answer in group(steps)]


def test_the_first_entry_that_fits_is_taken() -> None:
    script = Script().on("fix", say("one")).on("fix it", say("two"))
    assert said(script, request("please fix it")) == "one"


def test_a_pattern_is_searched() -> None:
    script = Script().on(re.compile("^FIX", re.IGNORECASE), say("one"))
    assert said(script, request("fix it")) == "one"
    assert said(script, request("do not fix it")) == "You said: do not fix it"


def test_otherwise_replaces_the_echo() -> None:
    assert said(Script().otherwise(say("Pardon?")), request("hm")) == "Pardon?"


def test_the_number_of_answers_so_far_chooses_the_next() -> None:
    script = Script().on("go", bash("ls"), bash("pwd"), say("end"))
    assert script.answer(request("go", answers=1)).steps == (bash("pwd"),)
    assert said(script, request("go", answers=2)) == "end"
    assert "no further answer" in said(script, request("go", answers=3))


def test_a_tool_closes_an_answer_and_keeps_what_was_said_before() -> None:
    assert sizes(think("hm"), say("look"), bash("ls"), say("a"), say("b")) == [3, 2]
    assert sizes(parallel(read("a"), read("b")), say("done")) == [1, 1]
    assert sizes(*plan("# Plan"), say("off")) == [1, 1, 1]


def test_a_stop_closes_an_answer() -> None:
    assert sizes(say("half"), stop("max_tokens"), say("rest")) == [2, 1]
    assert sizes(empty(), say("after")) == [1, 1]


def test_a_fault_closes_an_answer_only_behind_a_block() -> None:
    assert sizes(drop(times=1), say("fine")) == [2]
    assert sizes(say("half"), drop(), say("rest")) == [2, 1]
    assert sizes(say("half ", overloaded(times=1), "whole")) == [1]


def test_an_http_error_behind_text_is_a_mistake() -> None:
    with pytest.raises(ScriptError, match="before the first byte"):
        Script().on("go", say("half"), error(500))


def test_stop_reasons_follow_from_the_steps() -> None:
    turn = (bash("ls"), say("half"), stop("max_tokens"), usage(input=1), say("end"))
    assert [answer.stop_reason for answer in group(turn)] == ["tool_use", "max_tokens", "end_turn"]


def test_a_callable_gives_steps() -> None:
    script = Script().on("roll", lambda asked: [bash("ls"), say(f"{asked.prompt}ed")])
    assert said(script, request("roll", answers=1)) == "rolled"


def test_a_pace_is_given_to_texts_that_have_none() -> None:
    script = Script(pace=50).on("go", Gate(), say("a"), say("b", pace=9))
    paces = [step.pace for step in script.answer(request("go")).steps if isinstance(step, Text)]
    assert paces == [50, 9]


def test_a_notification_does_not_match_what_it_quotes() -> None:
    script = Script().on("count", bash("ls"), say("three")).notified(say("noted"))
    assert said(script, request("<task-notification>count</task-notification>")) == "noted"


def test_a_request_for_a_title_takes_no_step() -> None:
    title = request("go", max_tokens=512)
    assert title.kind is Kind.SIDE
    assert "title" in said(Script().on("go", say("no")), title)
    assert request("go", output_config={"format": {"type": "json_schema"}}).side


def test_a_session_without_tools_is_no_side_request() -> None:
    assert not request("go").side


def test_a_compaction_has_its_own_answer() -> None:
    asked = request("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", tools=[{}])
    assert asked.kind is Kind.COMPACTION
    assert said(Script().on("TEXT", say("no")), asked).startswith("<summary>")
    assert said(Script().compaction(say("short")), asked) == "short"


def test_a_request_names_how_it_was_signed_but_not_the_key() -> None:
    assert request().auth == "x-api-key"
    assert "secret" not in repr(request())
