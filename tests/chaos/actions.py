"""What a person might type next, chosen by chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from tests.chaos.story import KINDS

MANY = 6  # sessions; more are only launched now and then


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    line: str
    word: str = ""  # what its message can be recognised by
    name: str = ""  # whom it is for


@dataclass(slots=True)
class Typist:
    """Knows what a person at the chat knows: names, what is queued, what waits for a decision."""

    chance: Random
    names: list[str] = field(default_factory=list)
    queued: list[tuple[str, str]] = field(default_factory=list)  # session, message
    asked: list[str] = field(default_factory=list)  # approvals
    words: int = 0

    def next(self) -> Typed:
        if not self.names:
            return self._new()
        weights = {
            self._new: 4 if len(self.names) < MANY else 0.3,
            self._say: 12,
            self._resume: 4,
            self._fork: 0.7,
            self._simple: 7,
            self._withdraw: 3 if self.queued else 0,
            self._decide: 8 if self.asked else 0,
        }
        (act,) = self.chance.choices(list(weights), list(weights.values()))
        return act()

    def _word(self) -> str:
        self.words += 1
        return f"{self.chance.choice(KINDS)}-{self.words:04d}"

    def _name(self) -> str:
        return self.chance.choice(self.names)

    def _new(self) -> Typed:
        word, name = self._word(), f"s{self.words}"
        mode = "--mode bypassPermissions " if self.chance.random() < 0.3 else ""
        front = "--fg " if self.chance.random() < 0.6 else ""
        queue = "--queue " if self.chance.random() < 0.8 else ""
        self.names.append(name)
        return Typed(line=f"/new {mode}{front}{queue}--name {name} Please do {word}", word=word)

    def _say(self) -> Typed:
        word, name = self._word(), self._name()
        flags = ("", "--queue ", "--queue ", "--steer --queue ", "--interrupt --queue ")
        line = f"/say {self.chance.choice(flags)}{name} Please do {word}"
        return Typed(line=line, word=word, name=name)

    def _resume(self) -> Typed:
        name = self._name()
        if self.chance.random() < 0.5:
            return Typed(line=f"/resume --queue {name}")
        word = self._word()
        return Typed(line=f"/resume --queue {name} Please do {word}", word=word)

    def _fork(self) -> Typed:
        word, name = self._word(), f"s{self.words}"
        line = f"/resume --fork --queue --name {name} {self._name()} Please do {word}"
        self.names.append(name)
        return Typed(line=line, word=word)

    def _simple(self) -> Typed:
        commands = ("interrupt", "interrupt", "kill", "sleep", "sleep", "fg", "fg", "fg", "bg")
        name, command = self._name(), self.chance.choice((*commands, "budget"))
        return Typed(line=f"/{command} {name}{' +5' if command == 'budget' else ''}", name=name)

    def _withdraw(self) -> Typed:
        name, message = self.queued.pop(self.chance.randrange(len(self.queued)))
        flag = self.chance.choice(("", "", " --steer", " --interrupt"))
        return Typed(line=f"/withdraw {name} {message}{flag}")

    def _decide(self) -> Typed:
        approval = self.asked.pop(self.chance.randrange(len(self.asked)))
        return Typed(line=self.chance.choice((f"/allow {approval}", f"/deny {approval} Not now")))
