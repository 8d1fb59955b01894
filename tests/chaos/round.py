"""One round: random commands and faults, then rest, then the evidence."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from claude_sessions.demo import Ending, Request, Sandbox, ScriptedModel
from claude_sessions.engines.lines import load, message_id
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.eventlog import EventLog
from claude_sessions.events import Event
from tests.chaos.actions import Typed, Typist
from tests.chaos.daemon import Json, MortalDaemon
from tests.chaos.evidence import Asked, CatchUp, Evidence
from tests.chaos.faults import Faults
from tests.chaos.figures import Figures
from tests.chaos.host import LOG
from tests.process.machine import Machine

FAULT = 0.1  # of the steps
SETTLE_SECONDS = 90.0


@dataclass(slots=True)
class Round:
    seed: int
    model: ScriptedModel
    sandbox: Sandbox
    figures: Figures = field(default_factory=Figures)
    accepted: list[str] = field(default_factory=list)
    caught_up: list[CatchUp] = field(default_factory=list)
    read: dict[str, tuple[str, ...]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    async def run(self, steps: int) -> Evidence:
        chance = Random(self.seed)
        (self.sandbox.root / "work").mkdir(exist_ok=True)
        self.figures.rounds += 1
        async with MortalDaemon(self.sandbox) as daemon:
            await daemon.start()
            await self._rage(daemon, chance, steps)
            await self._settle(daemon)
            await self._read_all(daemon)
            await daemon.stop()
        return await self._evidence(daemon)

    # --- chaos

    async def _rage(self, daemon: MortalDaemon, chance: Random, steps: int) -> None:
        typist, tried = Typist(chance), set[str]()
        faults = Faults(daemon, self.model, chance, self.figures)
        async with asyncio.TaskGroup() as typing:
            for _ in range(steps):
                if chance.random() < FAULT:
                    await faults.strike()
                cards = [one["open"] for one in daemon.now.shown if one["open"]]
                typist.asked = [card for card in dict.fromkeys(cards) if card not in tried]
                typed = typist.next()
                tried |= {card for card in cards if card in typed.line}
                self.figures.actions += 1
                typing.create_task(self._type(daemon, typist, typed), name=typed.line)
                await asyncio.sleep(chance.choice((0.0, 0.05, 0.2, 0.4, 0.8)))

    async def _type(self, daemon: MortalDaemon, typist: Typist, typed: Typed) -> None:
        answer = await daemon.say(typed.line)
        if answer is None or not answer["ok"]:
            return
        if typed.word:
            self.accepted.append(typed.word)
            self.figures.accepted += 1
        if answer["data"].get("queued"):
            typist.queued.append((typed.name, answer["data"]["messageId"]))
        if typed.line.startswith("/fg"):
            missed = tuple(answer["data"]["missed"])
            self.caught_up.append(CatchUp(session=answer["session"], missed=missed))

    # --- rest

    async def _settle(self, daemon: MortalDaemon) -> None:
        """As a person would: what waits is decided, what has something to do is woken."""
        until = time.monotonic() + SETTLE_SECONDS
        while busy := [one for one in await daemon.look() if _unsettled(one)]:
            if time.monotonic() > until:
                self.left += [f"unsettled: {one}" for one in busy]
                return
            for one in busy:
                for approval in one["asks"]:
                    await daemon.say(f"/allow {approval}")
                if one["status"] == "asleep" and one["queued"] and not one["in_line"]:
                    await daemon.say(f"/resume --queue {one['name']}")
            await asyncio.sleep(0.1)

    async def _read_all(self, daemon: MortalDaemon) -> None:
        for one in await daemon.look():
            if (answer := await daemon.say(f"/output {one['name']} --full")) is not None:
                self.read[one["id"]] = tuple(answer["data"]["lines"])

    # --- evidence

    async def _evidence(self, daemon: MortalDaemon) -> Evidence:
        home = self.sandbox.root / "state"
        async with EventLog(home / "log.db", runner="chaos") as log:
            events: list[Event] = []
            while page := await log.events(after=events[-1].seq if events else 0):
                events += page
            counts = (await log.sums()).counts
        machine = Machine(self.sandbox, self.sandbox.root / "work")
        running = [f"process {one}" for one in machine.processes()]
        noted = [f"ledger: {file.name}" for file in (home / "processes").glob("*")]
        machine.sweep()
        evidence = Evidence(
            events=events,
            accepted=self.accepted,
            asked=[asked_of(request) for request in self.model.requests],
            lives=daemon.lives,
            caught_up=self.caught_up,
            read=self.read,
            written=self._written(),
            kept=self._kept(),
            counts=counts,
            left=[*self.left, *daemon.failures, *running, *noted],
            mishaps=self._mishaps(),
        )
        self.figures.count(evidence)
        return evidence

    def _mishaps(self) -> list[str]:
        """What the daemons logged as errors; the last line of a life may be half a line."""
        lines = (self.sandbox.root / LOG).read_text().splitlines()
        return [line for line in lines if '"level": "error"' in line or "Traceback" in line]

    def _files(self) -> list[Path]:
        return sorted((self.sandbox.home / ".claude" / "projects").glob("*/*.jsonl"))

    def _written(self) -> list[str]:
        transcripts = Transcripts(self.sandbox.env)
        turns = [turn for file in self._files() for turn in transcripts.turns(file.stem).turns]
        return [block for turn in turns for block in turn.blocks]

    def _kept(self) -> set[str]:
        lines = [line for file in self._files() for line in file.read_bytes().splitlines()]
        return {found for line in lines if (found := message_id(load(line) or {})) is not None}


def asked_of(request: Request) -> Asked:
    return Asked(
        conversation=request.session_id,
        prompt=request.prompt,
        steered=request.steered,
        answers=request.answers,
        length=len(request.messages),
        finished=request.fate.ending is Ending.FINISHED,
    )


def _unsettled(one: Json) -> bool:
    """Whoever has ended keeps its queue for the next resume."""
    if one["status"] in ("killed", "failed", "completed"):
        return False
    return bool(one["busy"] or one["asks"] or one["queued"] or one["status"] == "starting")
