from itertools import count

import orjson

from claude_sessions.demo import (
    Gate,
    bash,
    drop,
    empty,
    error,
    parallel,
    read,
    say,
    stall,
    think,
    usage,
)
from claude_sessions.demo.conversation import Json
from claude_sessions.demo.script import Answer
from claude_sessions.demo.steps import Step
from claude_sessions.demo.wire import Cue, Event, Pause, chunks, cues, sse, whole
from tests.demo.making import request


def played(*steps: Step) -> list[Cue]:
    numbers = count(1)
    return list(cues(Answer(steps), request("hi"), lambda kind: f"{kind}_{next(numbers)}"))


def names(*steps: Step) -> list[str]:
    return [cue.name if isinstance(cue, Event) else type(cue).__name__ for cue in played(*steps)]


def message(*steps: Step) -> Json:
    return whole(cue for cue in played(*steps) if isinstance(cue, Event))


def test_an_event_is_encoded_for_the_stream() -> None:
    encoded = sse(Event("message_stop", {"type": "message_stop"}))
    assert encoded == b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


def test_a_text_is_started_spoken_and_stopped() -> None:
    assert names(say("a b")) == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_text_is_cut_into_words_or_characters_and_nothing_is_lost() -> None:
    assert chunks("  one two\n\nthree ", None) == ["  ", "one ", "two\n\n", "three "]
    assert chunks("abcde", 2) == ["ab", "cd", "e"]


def test_a_pace_puts_a_pause_before_each_token() -> None:
    assert [cue for cue in played(say("a b", pace=50)) if isinstance(cue, Pause)] == [
        Pause(0.02)
    ] * 2


def test_a_whole_message_holds_every_kind_of_block() -> None:
    content = message(think("hm hm", signature="c2ln"), say("a b"), bash("ls"))["content"]
    assert content == [
        {"type": "thinking", "thinking": "hm hm", "signature": "c2ln"},
        {"type": "text", "text": "a b"},
        {
            "type": "tool_use",
            "id": "toolu_2",
            "name": "Bash",
            "input": {"command": "ls", "description": "Run a command"},
        },
    ]


def test_parallel_tools_are_blocks_of_one_message() -> None:
    answer = message(say("both"), parallel(read("a"), read("b")))
    assert [block["type"] for block in answer["content"]] == ["text", "tool_use", "tool_use"]
    assert answer["content"][1]["id"] != answer["content"][2]["id"]
    assert answer["stop_reason"] == "tool_use"


def test_an_empty_answer_has_no_content() -> None:
    assert message(empty())["content"] == []


def test_usage_is_what_the_script_says() -> None:
    counted = message(usage(input=1, output=2, cache_read=3, cache_write=4), say("a"))["usage"]
    assert counted == {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 4,
    }


def test_arguments_may_be_found_out_from_the_request() -> None:
    (block,) = message(bash(lambda asked: f"echo {asked.prompt}"))["content"]
    assert block["input"]["command"] == "echo hi"
    assert orjson.dumps(block)


def test_refusals_and_first_gates_come_before_the_first_byte() -> None:
    steps = (usage(input=1), Gate(), error(529, times=1), say("a"))
    assert names(*steps)[:3] == ["Gate", "HttpError", "message_start"]
    assert names(stall(), say("a"))[:2] == ["message_start", "Stall"]


def test_gates_and_faults_stand_where_the_text_has_them() -> None:
    assert names(say("a ", Gate(), "b ", drop()))[2:6] == [
        "content_block_delta",
        "Gate",
        "content_block_delta",
        "Drop",
    ]
