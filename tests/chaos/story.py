"""What the model answers: each message carries a word of its own, which says what kind of work it
is, so that the model's record can be searched for it and every answer is known beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from claude_sessions.demo import Request, Script, bash, drop, error, parallel, say
from claude_sessions.demo.steps import Step

KINDS = ("quick", "slow", "tool", "asks", "several", "flaky", "dropped")
WORD = re.compile(rf"\b(?:{'|'.join(KINDS)})-\d{{4}}\b")
PACE = 20.0  # words a second


def word_in(text: str) -> str:
    """The newest one; empty: there is none."""
    return next(iter(WORD.findall(text)[::-1]), "")


def answer(word: str, n: int) -> str:
    """What the model says of it in its n-th answer, from 0."""
    if word.startswith("slow"):
        return f"{word} takes its time: " + " ".join(f"step {k}," for k in range(10)) + " done."
    return f"{word}, answer {n}."


def answers(word: str) -> int:
    """In how many parts it is answered."""
    return {"tool": 2, "asks": 2, "several": 3}.get(word.partition("-")[0], 1)


def _say(n: int, pace: float | None = None) -> Step:
    return say(lambda request: answer(word_in(request.prompt), n), pace=pace)


def _run(command: str) -> Callable[[Request], str]:
    return lambda request: command.format(word_in(request.prompt))


@cache
def _busy(word: str) -> Step:
    """A fault of its own for each word: it strikes once, and the CLI tries again."""
    return error(529, headers={"retry-after": "0"}, times=1)


@cache
def _torn(word: str) -> Step:
    return drop(times=1)


def story() -> Script:
    script = Script()
    script.on(re.compile(r"\bquick-"), _say(0))
    script.on(re.compile(r"\bslow-"), _say(0, pace=PACE))
    script.on(re.compile(r"\btool-"), _say(0), bash(_run("sleep 0.3; echo {0} >> ran")), _say(1))
    script.on(re.compile(r"\basks-"), _say(0), bash(_run("touch {0}")), _say(1))
    script.on(
        re.compile(r"\bseveral-"),
        *(_say(0), parallel(bash("ls"), bash(_run("echo {0} >> ran")))),
        *(_say(1), bash("sleep 0.2; pwd")),
        _say(2),
    )
    script.on(re.compile(r"\bflaky-"), lambda request: [_busy(word_in(request.prompt)), _say(0)])
    script.on(re.compile(r"\bdropped-"), lambda request: [_torn(word_in(request.prompt)), _say(0)])
    script.otherwise(say("There is nothing left to go on with."))
    return script
