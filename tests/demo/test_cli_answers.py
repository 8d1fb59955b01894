"""Every kind of answer, through the real CLI."""

from pathlib import Path

from claude_agent_sdk import (
    RateLimitEvent,
    StreamEvent,
    TaskNotificationMessage,
    TextBlock,
    ThinkingBlock,
)

from claude_sessions.demo import (
    Gate,
    Sandbox,
    Script,
    ScriptedModel,
    ask,
    bash,
    edit,
    empty,
    headers,
    parallel,
    plan,
    question,
    questions,
    read,
    say,
    stop,
    task,
    think,
    tool,
    usage,
    write,
)
from tests.demo.talk import talking


async def test_text_and_thinking_arrive_in_pieces(tmp_path: Path) -> None:
    script = Script().on("go", think("well well"), say("one two", chunk=2))
    async with (
        ScriptedModel(script) as model,
        talking(model, tmp_path, include_partial_messages=True) as talk,
    ):
        heard = await talk.turn("go")
    assert [block.thinking for block in heard.blocks(ThinkingBlock)] == ["well well"]
    assert heard.blocks(ThinkingBlock)[0].signature
    deltas = [event.event.get("delta", {}).get("text") for event in heard.of(StreamEvent)]
    assert [piece for piece in deltas if piece] == ["on", "e ", "tw", "o"]
    assert heard.result.result == "one two"


async def test_the_model_uses_tools_one_after_the_other(tmp_path: Path) -> None:
    script = Script().on(
        "go",
        say("First a file."),
        write("a.txt", "hello"),
        read("a.txt"),
        edit("a.txt", "hello", "goodbye"),
        bash("cat a.txt; touch done"),
        say(lambda request: f"It says {request.last_tool_result}."),
    )
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        heard = await talk.turn("go")
    assert heard.called == ["Write", "Read", "Edit", "Bash"]
    assert heard.texts == ["First a file.", "It says goodbye."]
    assert (tmp_path / "work" / "a.txt").read_text() == "goodbye"
    assert [request.answers for request in model.requests] == [0, 1, 2, 3, 4]


async def test_tools_may_be_called_in_parallel(tmp_path: Path) -> None:
    both = parallel(bash("echo a > a"), bash("echo b > b"), tool("Read", file_path="/etc/hostname"))
    script = Script().on("go", both, say("done"))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        heard = await talk.turn("go")
    assert len(heard.tool_results) == 3
    assert [len(request.tool_results) for request in model.requests] == [0, 3]


async def test_questions_are_asked_and_their_answers_reach_the_model(tmp_path: Path) -> None:
    script = Script().on("one", question("Which?", ["Red", "Blue"]), say("thanks"))
    several = questions(ask("Which?", ["Red", "Blue"], multi=True), ask("How many?", ["1", "2"]))
    script.on("two", several, say(lambda request: request.last_tool_result))
    answers = {"Which?": "Red, Blue", "How many?": "2"}
    async with ScriptedModel(script) as model, talking(model, tmp_path, answers=answers) as talk:
        await talk.turn("one")
        heard = await talk.turn("two")
    assert '"Which?"="Red, Blue"' in model.requests[1].last_tool_result
    assert '"How many?"="2"' in str(heard.result.result)


async def test_a_plan_is_written_where_the_cli_wants_it(tmp_path: Path) -> None:
    script = Script().on("go", say("I think."), plan("# The plan"), say("Off we go."))
    async with (
        ScriptedModel(script) as model,
        talking(model, tmp_path, permission_mode="plan") as talk,
    ):
        heard = await talk.turn("go")
    assert heard.called == ["Write", "ExitPlanMode"]
    assert "approved your plan" in model.requests[-1].last_tool_result
    (file,) = (tmp_path / "home" / ".claude" / "plans").iterdir()
    assert str(file) == model.requests[0].plan_path
    assert file.read_text() == "# The plan"


async def test_a_subagent_has_its_own_entry(tmp_path: Path) -> None:
    script = Script().on("count them", bash("touch x; ls"), say("There is one."))
    script.on("go", task("count them"), say(lambda request: request.last_tool_result))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        heard = await talk.turn("go")
    assert "There is one." in str(heard.result.result)
    assert model.prompts() == ["go"]
    assert [bool(request.agent_id) for request in model.requests] == [False, True, True, False]


async def test_a_background_task_starts_a_turn_when_it_ends(tmp_path: Path) -> None:
    gate = Gate()
    script = Script().on("count them", say("There ", gate, "is one."))
    script.on("go", task("count them", background=True), say("It runs.")).notified(say("Noted."))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        assert (await talk.turn("go")).result.result == "It runs."
        gate.open()
        later = await talk.result()
    assert later.of(TaskNotificationMessage)[0].status == "completed"
    assert later.result.result == "Noted."
    assert "There is one." in model.requests[-1].prompt
    assert model.prompts() == ["go"]


async def test_usage_becomes_cost(tmp_path: Path) -> None:
    counted = usage(input=1000, output=200, cache_read=3000, cache_write=400)
    async with (
        ScriptedModel(Script().on("go", counted, say("dear"))) as model,
        talking(model, tmp_path) as talk,
    ):
        cheap = (await talk.turn("hello")).result.total_cost_usd
        result = (await talk.turn("go")).result
    assert result.usage is not None
    assert result.usage["input_tokens"] == 1000
    assert result.usage["cache_creation_input_tokens"] == 400
    assert cheap is not None
    assert result.total_cost_usd is not None
    assert result.total_cost_usd > 10 * cheap


async def test_answers_that_stop_early_are_gone_on_with(tmp_path: Path) -> None:
    script = Script().on("long", say("half"), stop("max_tokens"), say("the rest"))
    script.on("bad", stop("refusal"), say("Sorry.")).on("quiet", bash("ls"), empty(), say("Hm."))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        assert (await talk.turn("long")).texts == ["half", "the rest"]
        assert (await talk.turn("bad")).blocks(TextBlock)[-1].text == "Sorry."
        assert (await talk.turn("quiet")).result.result == "Hm."
    assert model.prompts() == ["long", "bad", "quiet"]


async def test_a_subscription_sees_its_rate_limit(tmp_path: Path) -> None:
    unified = "anthropic-ratelimit-unified"
    warning = {
        f"{unified}-status": "allowed_warning",
        f"{unified}-reset": "4000000000",
        f"{unified}-representative-claim": "five_hour",
        f"{unified}-5h-utilization": "0.9",
        f"{unified}-5h-reset": "4000000000",
        f"{unified}-5h-surpassed-threshold": "0.75",
    }
    script = Script().on("go", headers(warning), say("careful"))
    async with ScriptedModel(script) as model:
        sandbox = Sandbox(tmp_path, model.url, subscription=True)
        async with talking(model, tmp_path, sandbox=sandbox) as talk:
            heard = await talk.turn("go")
    assert heard.of(RateLimitEvent)[0].rate_limit_info.status == "allowed_warning"
    assert model.requests[0].auth == "authorization"


async def test_a_compaction_takes_no_step(tmp_path: Path) -> None:
    script = Script().on("hello", say("hi")).on("more", say("still here"))
    async with ScriptedModel(script) as model, talking(model, tmp_path) as talk:
        await talk.turn("hello")
        assert (await talk.turn("/compact")).system("compact_boundary")
        assert (await talk.turn("more")).result.result == "still here"
    assert model.prompts() == ["hello", "more"]
    assert len(model.side_requests) == 1
