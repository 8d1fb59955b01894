"""Phones through the worst: lost answers, pauses, gateways down, and a daemon killed twice."""

from __future__ import annotations

import asyncio
import contextlib
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
from claude_sessions.storage.schema import connect_for_reading
from tests.botapi import BotApi, Call, Chat, Message, Person, status
from tests.process.machine import PATIENCE, Machine, Program
from tests.process.test_telegram import OWNER, api, killed, owner, stopped, wired

__all__ = ["api", "owner", "wired"]

SEED = int(os.environ.get("CHAOS_SEED", "11"))
Resolved = e.ApprovalResolved
LOST = ("dropped unprocessed", "processed, answer dropped", "Bad Gateway")
ARRIVED = ("ok", "processed, answer dropped")
JOB = re.compile(r"do (job\d+x)")
TALE = f"It begins.\n\n{'A long tale. ' * 2000}\n\nSo it ends."
TEAM = -100500
PAUSE = 20  # seconds that Telegram asks for, once
CARD = re.compile(r"(⚠️|✅|❌|⚪|▫️)")
SETTLED = 60.0  # a group gets twenty a minute


@dataclass(frozen=True)
class Place:
    """Somebody, where they are with their session."""

    person: Person
    chat: Chat

    async def says(self, text: str) -> None:
        await self.person.says(text, self.chat)


@dataclass
class Hands:
    """They allow whatever is asked, go on after each restart, and say more now and then."""

    places: dict[str, Place]  # by the session in front
    chance: Random
    said: list[str] = field(default_factory=list)
    kills: list[float] = field(default_factory=list)
    pressed: set[tuple[int, int, str]] = field(default_factory=set)

    async def work(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await self.press()
            if self.chance.random() < 0.2 and len(self.said) < 9:
                self.said.append(f"do job{len(self.said)}x")
                where = "team" if len(self.said) == 2 else self.chance.choice(("ada", "bea", "cem"))
                await self.places[where].says(self.said[-1])
            await asyncio.sleep(0.1)  # at a person's pace

    async def press(self) -> None:
        """Each button once."""
        for label in ("Allow", "Continue"):
            for place, message in self.shown(label):
                which = (place.chat.id, message.id, label)
                if which not in self.pressed:
                    self.pressed.add(which)
                    await place.person.presses(label, message, place.chat)

    def shown(self, label: str) -> Iterator[tuple[Place, Message]]:
        for place in self.places.values():
            for message in place.chat.of_bot:
                if label in message.button_labels:
                    yield place, message

    def alive(self) -> list[Message]:
        """Cards that ask, and turns that look as if they ran."""
        stops = [message for _, message in self.shown("Stop")]
        running = [message for message in stops if re.match(r"\S+ · \d", message.text)]
        return running + [message for _, message in self.shown("Allow")]

    def screens(self) -> str:
        return "\n---\n".join(place.chat.text() for place in self.places.values())


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
    script.on("tale", say(TALE))
    people = {"ada": OWNER, "bea": 1002, "cem": 1003}
    lines = [
        f'[[people]]\nname = "{name}"\nrole = "approver"\ntelegram = {number}'
        for name, number in people.items()
        if number != OWNER
    ]
    config = wired.sandbox.root / "claude-sessions.toml"
    config.write_text("\n".join([config.read_text(), *lines, ""]))
    known = {name: api.person(number, name) for name, number in people.items()}
    places = {name: Place(person, person.chat) for name, person in known.items()}
    team = api.group(TEAM, "Team", members=known.values())
    return Hands({**places, "team": Place(known["ada"], team)}, Random(SEED))


@pytest.mark.timeout(200)
async def test_every_answer_is_shown_and_every_card_is_true_after_the_worst(
    model: ScriptedModel, wired: Machine, api: BotApi, hands: Hands
) -> None:
    command = wired.run("--log-level", "error")
    async with wired.started(command) as daemon:
        for name, place in hands.places.items():
            await place.says(f"/new --fg --name {name} hello {name}")
        for name, place in hands.places.items():
            await place.chat.shows(f"You said: hello {name}", timeout=PATIENCE)
        api.chaos(SEED, before=0.06, after=0.06, bad_gateway=0.06, flood=0.03, retry_after=1)
        api.fail("sendMessage", chat=1002, how=status(429, retry_after=4))
        await hands.places["cem"].says("tell the tale")
        await hands.work(4)
        await killed_in(hands, daemon, wired)
    async with wired.started(command) as daemon:
        await hands.work(5)
        await killed_in(hands, daemon, wired)
    async with wired.started(command) as daemon:
        api.fail("sendMessage", chat=1002, how=status(429, retry_after=PAUSE))
        await hands.places["bea"].says("/sessions")
        await hands.work(3)
        await api.called("sendMessage", paused, PATIENCE)
        api.calm()
        await settled(hands, model, wired)
        await stopped(daemon)
    assert len(hands.said) > 3
    asked = Counter(prompt for prompt in model.prompts() if prompt in hands.said)
    assert set(asked.values()) == {1}
    check_pause(api)
    check_repetitions(api, hands)
    events = await events_of(wired)
    check_answers(events, api, hands)
    check_cards(events, hands)


async def killed_in(hands: Hands, daemon: Program, machine: Machine) -> None:
    await killed(daemon, machine)
    hands.kills.append(time.monotonic())


async def settled(hands: Hands, model: ScriptedModel, machine: Machine) -> None:
    """Whatever can still be pressed leads somewhere, is gone afterwards, and all has been shown."""
    until = time.monotonic() + SETTLED
    while left := owing(hands, model, machine):
        assert time.monotonic() < until, f"{left}\n{hands.screens()}\n{machine.story()}"
        await hands.press()
        await asyncio.sleep(0.1)


def owing(hands: Hands, model: ScriptedModel, machine: Machine) -> list[str]:
    query = "SELECT id FROM letters WHERE shown < version OR open"
    with contextlib.closing(connect_for_reading(machine.home / "log.db")) as db:
        letters = [f"letter {row[0]} is not shown" for row in db.execute(query)]
    unheard = sorted(set(hands.said) - heard(hands, model))
    looks = [f"looks alive: {message.text}" for message in hands.alive()]
    return [*letters, *(f"Claude was not asked: {each}" for each in unheard), *looks]


def heard(hands: Hands, model: ScriptedModel) -> set[str]:
    """What was taken in and then cut off by a kill, before anything was asked, Claude is told
    with the next request.
    """
    told = [str(request.messages) for request in model.requests]
    return {words for words in hands.said if any(words in conversation for conversation in told)}


def check_pause(api: BotApi) -> None:
    """What Telegram asked for was kept, to the second."""
    asked = next(filter(paused, api.calls))
    after = [call.at - asked.at for call in api.calls if is_to(call, 1002) and call.at > asked.at]
    assert min(after) >= PAUSE, after


def paused(call: Call) -> bool:
    return call.outcome.endswith(f"retry after {PAUSE}")


def is_to(call: Call, chat: int) -> bool:
    return call.params.get("chat_id") == chat


def check_repetitions(api: BotApi, hands: Hands) -> None:
    """Each stands for a call whose answer was lost, or the one a kill cut off in that chat."""
    sends = api.calls.of("sendMessage", "sendDocument")
    lost = [call for call in sends if call.outcome in LOST]
    kills = [(at, place.chat.id) for at in hands.kills for place in hands.places.values()]
    repeated = [call for call in sends if "(repeat)" in words_of(call) and call.outcome in ARRIVED]
    for call in repeated:
        before = [one for one in lost if one.at <= call.at and one is not call and alike(one, call)]
        cut_off = [kill for kill in kills if kill[0] < call.at and is_to(call, kill[1])]
        assert before or cut_off, f"{words_of(call)}\n{hands.screens()}"
        if before:
            lost.remove(before[-1])
        else:
            kills.remove(cut_off[-1])
    shown = [message.text for place in hands.places.values() for message in place.chat.of_bot]
    quotes = ("(repeat)", "I was restarted")
    unmarked = "\n".join(text for text in shown if not any(each in text for each in quotes))
    finished = Counter(re.findall(r"Finished (job\d+x)", unmarked))
    assert max(finished.values()) == 1, hands.screens()


def words_of(call: Call) -> str:
    return str(call.params.get("text") or call.params.get("caption") or "")


def alike(one: Call, other: Call) -> bool:
    """Of the same thing in the same chat: what grows or is decided says more the second time."""
    if not is_to(one, other.params["chat_id"]) or one.method != other.method:
        return False
    jobs = [set(re.findall(r"job\d+x", words_of(call))) for call in (one, other)]
    said = [words_of(call).removesuffix("(repeat)").strip() for call in (one, other)]
    running = [bool(re.match(r"\S+ · \d", text)) for text in said]
    return said[0] == said[1] or bool(jobs[0] & jobs[1]) or any(running)


async def events_of(machine: Machine) -> list[e.Event]:
    async with EventLog(machine.home / "log.db", runner="check") as log:
        return await log.events(limit=10_000)


def check_answers(events: list[e.Event], api: BotApi, hands: Hands) -> None:
    """Whatever Claude finished saying stands in its chat; what is too long, in a document."""
    names = {x.session: x.payload.name for x in events if isinstance(x.payload, e.SessionCreated)}
    spoken = [
        (names[event.session], event.payload.text.strip())
        for event in events
        if isinstance(event.payload, e.AssistantMessage)
    ]
    screens = {name: place.chat.text() for name, place in hands.places.items()}
    missing = [text for name, text in spoken if text not in screens[name] and text != TALE]
    assert missing == [], hands.screens()
    assert any("Finished" in text for _, text in spoken)
    documents = [m.document for m in hands.places["cem"].chat.of_bot if m.document is not None]
    held = [api.content(document["file_id"]).decode() for document in documents]
    assert all(any(TALE in text for text in held) for _, said in spoken if said == TALE)


def check_cards(events: list[e.Event], hands: Hands) -> None:
    """Every copy of a card says how it was decided, by whom, and whether Claude was told."""
    given = {x.payload.approval_id for x in events if isinstance(x.payload, e.ApprovalDelivered)}
    ends = {x.payload.approval_id: x.payload for x in events if isinstance(x.payload, Resolved)}
    truths: dict[str, list[tuple[str, str]]] = {}
    for event in events:
        if isinstance(asked := event.payload, e.ApprovalRequested):
            truth = truth_of(ends[asked.approval_id], given=asked.approval_id in given)
            truths.setdefault(str(asked.input["command"]), []).append(truth)
    for command, wanted in truths.items():
        cards = [text for text in cards_of(hands) if command in text]
        told = {truth for truth in wanted for card in cards if all(part in card for part in truth)}
        assert told == set(wanted), f"{command}: {wanted}\n{hands.screens()}"
        for card in cards:
            assert any(all(part in card for part in truth) for truth in wanted), card
    assert truths


def cards_of(hands: Hands) -> list[str]:
    shown = [message.text for place in hands.places.values() for message in place.chat.of_bot]
    return [text for text in shown if CARD.match(text) and "touch job" in text]


def truth_of(end: Resolved, *, given: bool) -> tuple[str, str]:
    if end.decision != "allow":
        return "⚪ No longer asked", ""
    return f"✅ Allowed once by {end.by}", "given to Claude" if given else "it had stopped before"
