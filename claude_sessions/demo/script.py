"""The language of the scripted model.

A script says, for each prompt, how the model's turn goes::

    script = Script()
    script.on(
        "fix the login",                   # part of the newest prompt, or a compiled pattern
        say("I look at the tests first."),
        bash("npm test"),                  # a tool ends the answer; its result starts the next
        say("All green."),
    )
    script.otherwise(say("Pardon?"))       # left out, the model answers "You said: …"

    async with ScriptedModel(script) as model:
        ...                                # point a CLI to model.url

The first entry that fits is taken. The prompts of subagents are matched like any other. A turn
that the end of a background task starts has its own steps, `script.notified(say("…"))`.

**Answers.** The steps of an entry are cut into answers, one for each request of the CLI. An
answer is closed by a tool, by `parallel(...)`, by `stop(...)`, or by a fault that stands after
some text; whatever is before it belongs to the same answer. Which answer is due is read from the
conversation in the request, so one script serves any number of sessions, resumed and forked ones
too. A turn asked for more than it has says so in a sentence.

**Words**

    say("text")                            a block of text
    say("slow text", pace=50)              in tokens a second; a token is a word,
    say("slow text", pace=50, chunk=4)     or that many characters
    say(lambda request: request.prompt)    text found out when it is asked for
    think("hm", signature="c2ln")          a thinking block; takes all that `say` takes

    Script(pace=50)                        a pace for every block that has none

**Tools.** Any argument may be a callable of the request.

    bash("make", run_in_background=True)   read("a.txt")   write("a.txt", "new")
    edit("a.txt", "old", "new")            tool("Grep", pattern="x")
    parallel(read("a"), read("b"))         several calls in one answer
    task("count the files")                a subagent in the foreground
    task("count", background=True)         or in the background
    question("Which?", ["Red", "Blue"], multi=True)
    questions(ask("Which?", ["Red", "Blue"]), ask("How many?", ["1", "2"]))
    plan("# Plan")                         two answers: writes the plan file, leaves plan mode

    say(lambda request: f"It says {request.last_tool_result}")

**Numbers and endings**

    usage(input=9000, output=50, cache_read=0, cache_write=0), say("…")
    headers({"anthropic-ratelimit-unified-status": "allowed_warning"}), say("…")
    say("half"), stop("max_tokens"), say("the rest")
    stop("refusal")
    empty(), say("after a nudge")          an answer with no content

**Waiting.** A gate holds an answer until the test opens it: inside a text, between blocks, or as
the first step, before the first byte.

    gate = Gate()
    say("one ", gate, "two")               await gate.reached() … gate.open()

**Faults.** `times=n` strikes the first n requests that come to this place and lets later ones
pass; without it every request is struck. These two come before the first byte of an answer:

    error(529, times=2), say("at last")    an HTTP status; also headers={"retry-after": "1"}
    hang()                                 accepts the request and is silent

These may stand inside a text, between blocks, or first:

    say("half ", drop(times=1), "whole")   closes the connection; drop(reset=True) sends a RST
    say("half ", stall())                  goes silent, the connection stays
    malformed(times=1), say("…")           an event that is no JSON
    overloaded(times=1), say("…")          an `error` event in the stream
    say("half"), drop(), say("the rest")   after a whole block the CLI keeps it and asks on

**Anything else.** A callable among the steps gives steps, asked anew for each request of the
turn; it should give equally many answers each time.

    script.on("roll", lambda request: [bash(f"echo {len(request.messages)}"), say("rolled")])
    script.compaction(say("<summary>short</summary>"))   what a `/compact` gets
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from claude_sessions.demo.request import Kind, Request
from claude_sessions.demo.steps import (
    Block,
    Fault,
    Parallel,
    Refusal,
    Step,
    Stop,
    Text,
    Thinking,
    ToolUse,
)
from claude_sessions.demo.words import say

Match = str | re.Pattern[str]
Steps = Step | Sequence[Step] | Callable[[Request], Step | Sequence[Step]]

SUMMARY = "<summary>A scripted summary of the conversation.</summary>"


class ScriptError(Exception):
    """The steps make no sense in this order; the message names the step."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The steps that one request is answered with."""

    steps: tuple[Step, ...]

    @property
    def stop_reason(self) -> str:
        chosen = [step.reason for step in self.steps if isinstance(step, Stop)]
        called = any(isinstance(step, ToolUse | Parallel) for step in self.steps)
        return chosen[-1] if chosen else "tool_use" if called else "end_turn"


TITLE = Answer((say('{"title": "A scripted session"}'),))
PAST_THE_END = Answer((say("(The script has no further answer.)"),))


class Script:
    def __init__(self, *, pace: float | None = None) -> None:
        self._pace = pace
        self._entries: list[tuple[Match, tuple[Steps, ...]]] = []
        self._default: tuple[Steps, ...] = (say(lambda request: f"You said: {request.prompt}"),)
        self._notified: tuple[Steps, ...] = (say("A background task has ended."),)
        self._compaction: tuple[Steps, ...] = (say(SUMMARY),)

    def on(self, match: Match, *steps: Steps) -> "Script":
        self._entries.append((match, checked(steps)))
        return self

    def otherwise(self, *steps: Steps) -> "Script":
        self._default = checked(steps)
        return self

    def notified(self, *steps: Steps) -> "Script":
        """Apart from the entries: a notification quotes prompts and answers that would fit them."""
        self._notified = checked(steps)
        return self

    def compaction(self, *steps: Steps) -> "Script":
        self._compaction = checked(steps)
        return self

    def answer(self, request: Request) -> Answer:
        """What the model says to this request."""
        if request.kind is Kind.SIDE:
            return TITLE
        steps = unfold(self._turn(request), request)
        answers = group(paced(step, self._pace) for step in steps)
        return answers[request.answers] if request.answers < len(answers) else PAST_THE_END

    def _turn(self, request: Request) -> tuple[Steps, ...]:
        if request.kind is Kind.COMPACTION:
            return self._compaction
        if request.notified:
            return self._notified
        fitting = (steps for match, steps in self._entries if fits(match, request.prompt))
        return next(fitting, self._default)


def fits(match: Match, prompt: str) -> bool:
    return match in prompt if isinstance(match, str) else match.search(prompt) is not None


def checked(steps: tuple[Steps, ...]) -> tuple[Steps, ...]:
    """Say at once what is wrong, as far as it can be known before a request comes."""
    group(step for step in flat(steps) if not callable(step))
    return steps


def flat(steps: Iterable[Steps]) -> Iterator[Step | Callable[[Request], Step | Sequence[Step]]]:
    for step in steps:
        if isinstance(step, Sequence):
            yield from step
        else:
            yield step


def unfold(steps: Iterable[Steps], request: Request) -> Iterator[Step]:
    for step in flat(steps):
        if callable(step):
            yield from unfold([step(request)], request)
        else:
            yield step


def paced(step: Step, pace: float | None) -> Step:
    if isinstance(step, Text | Thinking) and step.pace is None:
        return replace(step, pace=pace)
    return step


def group(steps: Iterable[Step]) -> list[Answer]:
    """Cut a turn into answers."""
    answers: list[Answer] = []
    current: list[Step] = []
    for step in steps:
        spoken = any(isinstance(earlier, Block) for earlier in current)
        if spoken and isinstance(step, Refusal):
            raise ScriptError(f"{step} comes before the first byte: put it ahead of the text")
        current.append(step)
        if isinstance(step, ToolUse | Parallel | Stop) or (spoken and isinstance(step, Fault)):
            answers.append(Answer(tuple(current)))
            current = []
    return [*answers, Answer(tuple(current))] if current else answers
