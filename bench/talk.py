"""What the model says to whom: short answers, questions of one tool, and long streams.

A prompt is one word: `stream…` is answered at length, `ask…` with a tool that needs a person,
anything else briefly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.product import PATIENCE
from claude_sessions.demo import Request, bash, say
from claude_sessions.demo.steps import Step
from tests.botapi import Chat, Message

PACE = 20  # pieces a second, as Claude's own answers come
CHUNK = 3  # characters in a piece
PARAGRAPH = (
    "## What I found\n\nThe handler in `src/auth/refresh.ts` clears the **cookie** before the new"
    " one is set, so a request in between is *logged out*:\n\n```ts\nfunction refresh(token:"
    " Token) {\n  clear(jar)\n  return renew(token)\n}\n```\n\n1. keep the old cookie until the new"
    " one is there\n2. add a test with [two tabs](https://example.org/tabs)\n\n"
)


@dataclass(slots=True)
class Talk:
    """`first` has when the first words of an answer left, by its prompt."""

    stream_seconds: float
    first: dict[str, float] = field(default_factory=dict)

    def answer(self, request: Request) -> Sequence[Step]:
        word = request.prompt
        if word.startswith("stream"):
            return [say(self._long(word), pace=PACE, chunk=CHUNK)]
        if word.startswith("ask"):
            return [bash(f"touch {word}"), say(ending(word))]
        return [say(f"{word} ", self._left(word), ending(word), pace=PACE)]

    def _left(self, word: str) -> Callable[[Request], str]:
        def speak(_: Request) -> str:
            # The model asks for the next piece just before it writes out the one before.
            self.first[word] = time.monotonic()
            return "is heard. "

        return speak

    def _long(self, word: str) -> str:
        length = round(self.stream_seconds * PACE) * CHUNK
        paragraphs = PARAGRAPH * (length // len(PARAGRAPH) + 1)
        return f"{paragraphs[:length]}\n```\n\n{ending(word)}"


def ending(word: str) -> str:
    return f"So ends {word}."


async def ended(chat: Chat, word: str, patience: float = PATIENCE) -> Message:
    """The message with the whole answer, once its turn is over."""
    return await chat.shows(
        lambda message: ending(word) in message.text and "Stop" not in message.button_labels,
        timeout=patience,
    )
