"""Phones through the worst: lost answers, pauses, gateways down, and a daemon killed twice."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import pytest

from claude_sessions import events as e
from claude_sessions.demo import Request, Script, ScriptedModel, bash, say
from claude_sessions.eventlog import EventLog
from tests.botapi import BotApi, Message, Person, status
from tests.process.machine import PATIENCE, Machine
from tests.process.test_telegram import OWNER, api, killed, owner, stopped, wired

__all__ = ["api", "owner", "wired"]

SEED = int(os.environ.get("CHAOS_SEED", "11"))
LOST = ("dropped unprocessed", "processed, answer dropped", "Bad Gateway")
JOB = re.compile(r"do (job\d+x)")


@dataclass
class Hands:
    """They allow whatever is asked, go on after each restart, and say more now and then."""

    people: dict[str, Person]  # by the session in front
    chance: Random
    said: list[str] = field(default_factory=list)
    pressed: set[tuple[int, int, str]] = field(default_factory=set)

    async def work(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await self.press()
            if self.chance.random() < 0.2 and len(self.said) < 9:
                self.said.append(f"do job{len(self.said)}x")
                await self.chance.choice(list(self.people.values())).says(self.said[-1])
            await asyncio.sleep(0.1)  # at a person's pace

    async def press(self) -> None:
        """Each button once."""
        for label in ("Allow", "Continue"):
            for person, message in self.shown(label):
                which = (person.id, message.id, label)
                if which not in self.pressed:
                    self.pressed.add(which)
                    await person.presses(label, message)

    def shown(self, label: str) -> Iterator[tuple[Person, Message]]:
        for person in self.people.values():
            for message in person.chat.of_bot:
                if label in message.button_labels:
                    yield person, message

    def alive(self) -> list[Message]:
        """Cards that ask, and turns that look as if they ran."""
        stops = [message for _, message in self.shown("Stop")]
        running = [message for message in stops if re.match(r"\S+ · \d", message.text)]
        return running + [message for _, message in self.shown("Allow")]

    def screens(self) -> str:
        return "\n---\n".join(person.chat.text() for person in self.people.values())


def job_of(request: Request) -> str:
    found = JOB.search(request.prompt)
    return found[1] if found else ""


@pytest.fixture
def hands(api: BotApi, wired: Machine, script: Script) -> Hands:
    script.on(
        JOB,
        say(lambda request: f"I begin {job_of(request)}. "),
        bash(lambda request: f"touch {job_of(request)}"),
        say(lambda request: f"Finished {job_of(request)}."),
    )
    people = {"ada": OWNER, "bea": 1002, "cem": 1003}
    lines = [
        f'[[people]]\nname = "{name}"\nrole = "approver"\ntelegram = {number}'
        for name, number in people.items()
        if number != OWNER
    ]
    config = wired.sandbox.root / "claude-sessions.toml"
    config.write_text("\n".join([config.read_text(), *lines, ""]))
    return Hands({name: api.person(i, name) for name, i in people.items()}, Random(SEED))


@pytest.mark.timeout(200)
async def test_every_answer_is_shown_and_every_card_is_true_after_the_worst(
    model: ScriptedModel, wired: Machine, api: BotApi, hands: Hands
) -> None:
    command = wired.run("--log-level", "error")
    async with wired.started(command) as daemon:
        for name, person in hands.people.items():
            await person.says(f"/new --fg --name {name} hello {name}")
        for name, person in hands.people.items():
            await person.chat.shows(f"You said: hello {name}", timeout=PATIENCE)
        api.chaos(SEED, before=0.06, after=0.06, bad_gateway=0.06, flood=0.03, retry_after=1)
        api.fail("sendMessage", chat=1002, how=status(429, retry_after=4))
        await hands.work(4)
        await killed(daemon, wired)
    async with wired.started(command) as daemon:
        await hands.work(5)
        await killed(daemon, wired)
    async with wired.started(command) as daemon:
        await hands.work(3)
        api.calm()
        await settled(hands, model)
        await stopped(daemon)
    assert len(hands.said) > 3
    asked = Counter(prompt for prompt in model.prompts() if prompt in hands.said)
    assert asked == Counter(hands.said)
    check_repetitions(api, hands)
    await check_answers(wired, hands)


async def settled(hands: Hands, model: ScriptedModel) -> None:
    """Whatever can still be pressed leads somewhere, and is gone afterwards."""
    until = time.monotonic() + PATIENCE
    while hands.alive() or not set(hands.said) <= set(model.prompts()):
        assert time.monotonic() < until, hands.screens()
        await hands.press()
        await asyncio.sleep(0.1)


def check_repetitions(api: BotApi, hands: Hands) -> None:
    """Only where an answer was lost, or the daemon died; and no answer stands twice unmarked."""
    sends = api.calls.of("sendMessage", "sendDocument")
    lost = sum(call.outcome in LOST for call in sends)
    shown = [message.text for person in hands.people.values() for message in person.chat.of_bot]
    assert sum("(repeat)" in text for text in shown) <= lost + 2 * len(hands.people)
    quotes = ("(repeat)", "I was restarted")
    unmarked = "\n".join(text for text in shown if not any(each in text for each in quotes))
    finished = Counter(re.findall(r"Finished (job\d+x)", unmarked))
    assert max(finished.values()) == 1, hands.screens()


async def check_answers(machine: Machine, hands: Hands) -> None:
    """Whatever Claude finished saying stands in its chat."""
    async with EventLog(machine.home / "log.db", runner="check") as log:
        events = await log.events(limit=10_000)
    names = {x.session: x.payload.name for x in events if isinstance(x.payload, e.SessionCreated)}
    spoken = [
        (names[event.session], event.payload.text.strip())
        for event in events
        if isinstance(event.payload, e.AssistantMessage)
    ]
    screens = {name: person.chat.text() for name, person in hands.people.items()}
    missing = [text for name, text in spoken if text not in screens[name]]
    assert missing == [], hands.screens()
    assert any("Finished" in text for _, text in spoken)
