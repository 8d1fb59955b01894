"""Conversations below have the shapes that the CLI was seen to send."""

from claude_sessions.demo.conversation import Json, newest_turn, plan_path

REMINDER = {"type": "text", "text": "<system-reminder>\nMind the gap.\n</system-reminder>\n"}
CALL = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}],
}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "hello"}
NUDGE = "[Your previous response had no visible output. Please continue.]"


def user(*content: str | Json) -> Json:
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    return {"role": "user", "content": blocks}


def assistant(text: str) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def test_reminders_are_no_part_of_the_prompt() -> None:
    turn = newest_turn([user(REMINDER, "fix it")])
    assert (turn.prompt, turn.answers) == ("fix it", 0)


def test_a_plain_string_is_a_prompt() -> None:
    assert newest_turn([{"role": "user", "content": "fix it"}]).prompt == "fix it"


def test_each_assistant_message_after_the_prompt_is_an_answer() -> None:
    turn = newest_turn([user("old"), assistant("done"), user("new"), CALL, user(RESULT)])
    assert (turn.prompt, turn.answers) == ("new", 1)
    assert [result.text for result in turn.tool_results] == ["hello"]


def test_tool_results_of_earlier_turns_are_left_out() -> None:
    turn = newest_turn([user("old"), CALL, user(RESULT), assistant("done"), user("new")])
    assert turn.tool_results == ()


def test_a_prompt_without_an_answer_is_joined_to_the_next() -> None:
    assert newest_turn([user(REMINDER, "first\n", "second")]).prompt == "second"


def test_a_prompt_of_two_blocks_stays_whole() -> None:
    assert newest_turn([user("block one", "block two")]).prompt == "block one\nblock two"


def test_an_interrupt_is_not_spoken() -> None:
    messages = [user("slow"), assistant("one"), user("[Request interrupted by user]\n", "next")]
    assert newest_turn(messages).prompt == "next"


def test_what_follows_an_interrupted_tool_is_a_prompt_of_its_own() -> None:
    after = user(RESULT, "[Request interrupted by user for tool use]\n", "next")
    turn = newest_turn([user("slow"), CALL, after])
    assert (turn.prompt, turn.answers, turn.tool_results) == ("next", 0, ())


def test_an_interrupted_tool_alone_begins_no_turn() -> None:
    after = user(RESULT, "[Request interrupted by user]\n")
    assert newest_turn([user("slow"), CALL, after]).prompt == "slow"


def test_slash_commands_and_their_output_are_not_spoken() -> None:
    caveat = "<local-command-caveat>The command below</local-command-caveat>\n"
    command = "<command-name>/context</command-name>\n"
    assert newest_turn([user(caveat, command, "after")]).prompt == "after"


def test_a_steered_message_comes_as_a_system_message_in_the_turn() -> None:
    said = "The user sent a new message while you were working:\n{}\n\nThis is how Claude Code does"
    note = {
        "role": "system",
        "content": said.format("also this") + "\n\n" + said.format("and\nthat"),
    }
    turn = newest_turn([user("work"), CALL, user(RESULT), note])
    assert (turn.prompt, turn.steered) == ("work", ("also this", "and\nthat"))


def test_the_end_of_a_background_task_is_a_prompt() -> None:
    note = "<system-reminder>\nNOT USER INPUT\n<task-notification>\nx\n</task-notification>\n"
    turn = newest_turn([user("go"), assistant("gone"), user(note + "</system-reminder>")])
    assert turn.prompt == "<task-notification>\nx\n</task-notification>"
    assert turn.answers == 0


def test_the_cli_asking_to_go_on_belongs_to_the_turn() -> None:
    turn = newest_turn([user("long"), assistant("half"), user("Output token limit hit. Resume")])
    assert (turn.prompt, turn.answers) == ("long", 1)


def test_an_empty_answer_is_counted_by_the_nudge_it_left() -> None:
    assert newest_turn([user("quiet\n", NUDGE)]).answers == 1
    assert newest_turn([user("quiet"), CALL, user(RESULT, NUDGE)]).answers == 2


def test_a_nudge_after_a_kept_answer_is_not_counted_twice() -> None:
    assert newest_turn([user("quiet"), assistant("…"), user(NUDGE)]).answers == 1


def test_a_nudge_before_the_newest_prompt_is_history() -> None:
    assert newest_turn([user("quiet\n", NUDGE + "\n", "next")]).answers == 0


def test_an_image_alone_starts_a_turn() -> None:
    image = {"type": "image", "source": {}}
    assert newest_turn([user("old"), assistant("done"), user(image)]).answers == 0


def test_the_newest_plan_file_is_found() -> None:
    old = user("Write to /h/.claude/plans/old-one.md please")
    new = {"role": "system", "content": "create your plan at /h/.claude/plans/new-one.md using"}
    assert plan_path([old, new], "") == "/h/.claude/plans/new-one.md"
    assert plan_path([], "at /h/.claude/plans/system.md.") == "/h/.claude/plans/system.md"
