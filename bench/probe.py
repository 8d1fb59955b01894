"""A person with a session of their own, who speaks and presses while we look at the clock."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from bench.bridge import Bridge
from bench.product import PATIENCE
from bench.talk import Talk, ended
from tests.botapi import Call, Person

MINE = ("sendMessage", "editMessageText")
COUNTED = (*MINE, "sendChatAction", "deleteMessage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Seconds: a message to the model being asked; the first token to the words in the chat."""

    asked: float
    shown: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """Seconds from a press: to the answer written to Claude; to the press being answered."""

    given: float
    answered: float


class Probe:
    """`rest`: seconds of silence after which its chat has the whole of its budget again."""

    def __init__(
        self, bridge: Bridge, talk: Talk, person: Person, name: str, *, rest: float
    ) -> None:
        self._rest = rest
        self._bridge = bridge
        self._talk = talk
        self._person = person
        self._name = name

    async def open(self) -> None:
        word = f"hello-{self._name}"
        await self._person.says(f"/new --fg --name {self._name} {word}")
        await ended(self._person.chat, word)

    async def rested(self) -> None:
        """Returns when the chat may be sent whatever comes."""
        calls = [c.at for c in self._bridge.api.calls.of(*COUNTED) if self._here(c)]
        due = max(calls, default=0.0) + self._rest
        await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def say(self, word: str) -> Heard:
        began = time.monotonic()
        await self._person.says(word)
        asked = await self._bridge.stage.asked(word)
        await ended(self._person.chat, word)
        shown = min(c.at for c in self._bridge.api.calls.of(*MINE) if self._tells(c, word))
        return Heard(asked=asked - began, shown=shown - self._talk.first[word])

    async def press(self, word: str) -> Pressed:
        await self._person.says(word)
        card = await self._person.chat.shows(
            lambda message: word in message.text and "Allow" in message.button_labels,
            timeout=PATIENCE,
        )
        began, at = time.monotonic(), time.time()
        press = await self._person.presses("Allow", card)
        answer = await self._bridge.api.called(
            "answerCallbackQuery",
            lambda call: call.params["callback_query_id"] == press.id,
            timeout=PATIENCE,
        )
        given = await self._bridge.given_at(self._name, after=at)
        await ended(self._person.chat, word)
        return Pressed(given=given - at, answered=answer.at - began)

    def _here(self, call: Call) -> bool:
        return bool(call.params.get("chat_id") == self._person.id)

    def _tells(self, call: Call, word: str) -> bool:
        return self._here(call) and word in call.params["text"]
