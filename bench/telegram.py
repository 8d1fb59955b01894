"""The bot: from a phone to Claude and back, calm and while many sessions stream.

The load is on while both sides are measured. The bare clients are in a process of their own, so
they share the machine with the load but no loop: the harder comparison for us. There are as many of
them as sessions of ours that are measured, and they rest as long: a CLI that just spoke is faster.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from bench.bridge import Bridge, bridged
from bench.child import Child, python
from bench.crowd import Crowd, gathered
from bench.figure import Figure
from bench.probe import Heard, Pressed, Probe
from bench.stage import Stage, staged
from bench.talk import Talk
from bench.timing import median_ms, percentile_ms
from claude_sessions.demo import Script

SESSIONS, CHATS, PROBES = 20, 5, 4
CALM_SECONDS, LOAD_SECONDS = 100.0, 600.0
STREAM_SECONDS = 50.0
REST_SECONDS = 3.5  # until a private chat has the whole of its budget again
MORE_MS, GIVEN_MS, ANSWERED_MS, SHOWN_MS = 30, 50, 100, 150
CROWD_IDS, PROBE_IDS = 2001, 3001  # of people in Telegram


@dataclass(slots=True)
class Side:
    """What was measured of one side."""

    heard: list[Heard] = field(default_factory=list)
    pressed: list[Pressed] = field(default_factory=list)

    def warm(self, count: int) -> None:
        """The first so many only warmed up, unless there are no others."""
        self.heard = self.heard[count:] or self.heard
        self.pressed = self.pressed[count:] or self.pressed

    @property
    def asked(self) -> list[float]:
        return [each.asked for each in self.heard]

    @property
    def shown(self) -> list[float]:
        return [each.shown for each in self.heard]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flood:
    """What the load was, and what came of it."""

    seconds: float
    refused: int
    asked: int
    shown: int
    messages: int
    edits: int
    cpu_seconds: float


class Bench:
    def __init__(self, bridge: Bridge, talk: Talk, lone: Child, probes: Sequence[Probe]) -> None:
        self._bridge = bridge
        self._talk = talk
        self._lone = lone
        self._probes = probes
        self.ours = Side()
        self.bare = Side()

    async def run(self, name: str, seconds: float, *, press: bool) -> None:
        """Ours and the baseline in turns, A B, B A, …; the first of each only warms up."""
        until, n = time.monotonic() + seconds, 0
        count = len(self._probes)
        while n < count or time.monotonic() < until:
            await self._probes[n % count].rested()
            sides = (self._use_ours, self._use_bare)
            for use in sides if n % 2 == 0 else reversed(sides):
                await use(n % count, f"{name}-{n}", press)
            n += 1
        self.ours.warm(count)
        self.bare.warm(count)

    async def _use_ours(self, number: int, n: str, press: bool) -> None:
        probe = self._probes[number]
        self.ours.heard.append(await probe.say(f"ours-{n}"))
        if press:
            self.ours.pressed.append(await probe.press(f"ask-ours-{n}"))

    async def _use_bare(self, number: int, n: str, press: bool) -> None:
        word = f"bare-{n}"
        self._lone.tell(f"{number} say {word}")
        *_, began, first = (await self._lone.says(f"said {word} ")).split()
        asked = await self._bridge.stage.asked(word)
        shown = float(first) - self._talk.first[word]
        self.bare.heard.append(Heard(asked=asked - float(began), shown=shown))
        if press:
            self.bare.pressed.append(await self._press_bare(number, f"ask-{word}"))

    async def _press_bare(self, number: int, word: str) -> Pressed:
        self._lone.tell(f"{number} ask {word}")
        await self._lone.says(f"asks {word}")
        self._lone.tell(f"{number} allow {word}")
        seconds = float((await self._lone.says(f"gave {word} ")).split()[-1])
        return Pressed(given=seconds, answered=seconds)


async def measure(scale: float = 1.0) -> list[Figure]:
    sessions, chats, probes = (SESSIONS, CHATS, PROBES) if scale else (1, 1, 1)
    seconds = LOAD_SECONDS * scale
    talk = Talk(STREAM_SECONDS if scale else 1.0)
    crowd_ids = range(CROWD_IDS, CROWD_IDS + chats)
    probe_ids = range(PROBE_IDS, PROBE_IDS + probes)
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(staged(Script().otherwise(talk.answer)))
        people = [*crowd_ids, *probe_ids]
        bridge = await stack.enter_async_context(bridged(stage, people, sessions + probes))
        lone = await stack.enter_async_context(alone(stage, probes))
        measured = await measured_by(bridge, talk, probe_ids, REST_SECONDS if scale else 0.0)
        crowd = Crowd(bridge, talk, gathered(bridge, crowd_ids, sessions))
        calm = Bench(bridge, talk, lone, measured)
        await calm.run("calm", CALM_SECONDS * scale, press=False)
        await crowd.open()
        busy = Bench(bridge, talk, lone, measured)
        flood = await flooded(bridge, crowd, busy, seconds)
    load = f"{sessions} sessions streaming into {chats} chats"
    return [*figures(calm, busy, load), *of_the_load(flood, load)]


@asynccontextmanager
async def alone(stage: Stage, count: int) -> AsyncIterator[Child]:
    arguments = ["-m", "bench.lone", str(stage.sandbox.root), str(stage.cli), str(count)]
    env, directory = stage.sandbox.env, stage.workdir
    async with python(arguments, env=env, directory=directory, told=True) as child:
        await child.says("ready")
        yield child


async def measured_by(bridge: Bridge, talk: Talk, ids: Sequence[int], rest: float) -> list[Probe]:
    probes = []
    for person_id in ids:
        person = bridge.api.person(person_id, f"Person {person_id}")
        probes.append(Probe(bridge, talk, person, f"probe-{person_id}", rest=rest))
        await probes[-1].open()
    return probes


async def flooded(bridge: Bridge, crowd: Crowd, bench: Bench, seconds: float) -> Flood:
    began, used = time.monotonic(), bridge.cpu_seconds
    async with crowd.streaming():
        await bench.run("busy", seconds, press=True)
        lasted, cpu = time.monotonic() - began, bridge.cpu_seconds - used
    sent = [message for chat in crowd.chats for message in chat.of_bot]
    return Flood(
        seconds=lasted,
        refused=bridge.api.flooded,
        asked=crowd.asked,
        shown=crowd.shown,
        messages=len(sent),
        edits=sum(message.edits for message in sent),
        cpu_seconds=cpu,
    )


def figures(calm: Bench, busy: Bench, load: str) -> list[Figure]:
    return [
        follow_up("telegram: follow-up to model asked", calm),
        follow_up(f"telegram: follow-up to model asked, {load}", busy),
        within(
            f"telegram: [Allow] to answer written to Claude, {load}, p95",
            [each.given for each in busy.ours.pressed],
            [each.given for each in busy.bare.pressed],
            GIVEN_MS,
        ),
        within(
            f"telegram: [Allow] to press answered, {load}, p95",
            [each.answered for each in busy.ours.pressed],
            [],
            ANSWERED_MS,
        ),
        within(
            "telegram: first token to first words in the chat, p95",
            calm.ours.shown,
            calm.bare.shown,
            SHOWN_MS,
        ),
        within(
            f"telegram: first token to first words in the chat, {load}, p95",
            busy.ours.shown,
            busy.bare.shown,
            SHOWN_MS,
        ),
    ]


def follow_up(name: str, bench: Bench) -> Figure:
    value, baseline = median_ms(bench.ours.asked), median_ms(bench.bare.asked)
    return Figure(
        name=name,
        value=value,
        unit="ms",
        baseline=baseline,
        baseline_name="bare SDK client",
        target=f"≤ bare + {MORE_MS} ms",
        met=value <= baseline + MORE_MS,
    )


def within(name: str, ours: Sequence[float], bare: Sequence[float], limit: float) -> Figure:
    value = percentile_ms(ours, 95)
    return Figure(
        name=name,
        value=value,
        unit="ms",
        baseline=percentile_ms(bare, 95) if bare else None,
        baseline_name="bare SDK client",
        target=f"≤ {limit:.0f} ms",
        met=value <= limit,
    )


def of_the_load(flood: Flood, load: str) -> list[Figure]:
    about = f"telegram: {flood.seconds / 60:.0f} min of {load}"
    return [
        Figure(
            name=f"{about}, refusals for flooding",
            value=flood.refused,
            unit="",
            baseline=None,
            baseline_name="",
            target="0",
            met=flood.refused == 0,
        ),
        Figure(
            name=f"{about}, answers that arrived in full",
            value=flood.shown,
            unit="",
            baseline=flood.asked,
            baseline_name="asked for",
            target="all",
            met=flood.shown == flood.asked,
        ),
        counted(f"{about}, messages sent", flood.messages),
        counted(f"{about}, edits of them", flood.edits),
        counted(f"{about}, share of a core", 100 * flood.cpu_seconds / flood.seconds, "%"),
    ]


def counted(name: str, value: float, unit: str = "") -> Figure:
    return Figure(
        name=name, value=value, unit=unit, baseline=None, baseline_name="", target="", met=None
    )
