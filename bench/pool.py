"""Many sessions, few processes: each is spoken to three times, in random order.

Ours and the bare clients do the same work in turns, a part at a time, and stay open in between.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import orjson

from bench.census import Census, Command, counting
from bench.clients import Clients
from bench.figure import Figure
from bench.product import OWNER, PATIENCE
from bench.sleepers import Sleeper, fill, sleepers, with_conversations
from bench.stage import staged
from bench.timing import scaled
from claude_sessions import events as e
from claude_sessions.config import make_home
from claude_sessions.daemon import Daemon
from claude_sessions.demo import Request, Script, say
from claude_sessions.sessions.session import may_rest

SESSIONS = 200
TIMES = 3
PROCESSES = 4
PARTS = 12
LIMIT = 1.15
SEED = 4  # any: both sides get the same order, in every run
WORD = re.compile(r"session-\d+/\d")

Speak = Callable[[Sleeper, str], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    to: int
    word: str
    answer: str  # all that it was ever told, if nothing is lost or mixed up


@dataclass(slots=True)
class Side:
    """One way of doing the work."""

    sessions: Sequence[Sleeper]
    speak: Speak
    whose: Callable[[Command], bool]
    census: Census = field(default_factory=Census)
    seconds: float = 0.0
    right: int = 0

    async def do(self, part: Sequence[Message], at_once: int) -> None:
        """As many at once as there may be processes; to each session one after the other."""
        turns = defaultdict[int, asyncio.Lock](asyncio.Lock)
        messages = iter(part)

        async def work() -> None:
            for message in messages:
                async with turns[message.to]:
                    said = await self.speak(self.sessions[message.to], message.word)
                self.right += said == message.answer

        async with counting(self.census, self.whose):
            began = time.monotonic()
            async with asyncio.TaskGroup() as group:
                for n in range(at_once):
                    group.create_task(work(), name=f"work:{n}")
            self.seconds += time.monotonic() - began


async def measure(scale: float = 1.0) -> list[Figure]:
    count, at_once = (scaled(SESSIONS, scale, least=20), PROCESSES) if scale else (4, 2)
    messages = plan(count)
    async with AsyncExitStack() as stack:
        ours, bare = await sides(stack, count, at_once)
        for n, part in enumerate(parts(messages, PARTS if scale else 1)):
            for side in (ours, bare) if n % 2 == 0 else (bare, ours):
                await side.do(part, at_once)
    return figures(ours, bare, len(messages), at_once)


def plan(sessions: int) -> list[Message]:
    order = [n for n in range(sessions) for _ in range(TIMES)]
    random.Random(SEED).shuffle(order)
    told = defaultdict[int, list[str]](list)
    messages = []
    for n in order:
        told[n].append(f"session-{n}/{len(told[n]) + 1}")
        messages.append(Message(to=n, word=told[n][-1], answer=" ".join(told[n])))
    return messages


def parts(messages: Sequence[Message], count: int) -> Iterator[Sequence[Message]]:
    size = -(-len(messages) // count)
    for start in range(0, len(messages), size):
        yield messages[start : start + size]


def remembered(request: Request) -> str:
    """The model answers with all that it was told in this conversation."""
    said = orjson.dumps([m for m in request.messages if m["role"] == "user"]).decode()
    return " ".join(WORD.findall(said))


async def sides(stack: AsyncExitStack, count: int, at_once: int) -> tuple[Side, Side]:
    stage = await stack.enter_async_context(staged(Script().otherwise(say(remembered))))
    own = await with_conversations(stage, sleepers(count, stage.workdir))
    theirs = await with_conversations(stage, sleepers(count, stage.workdir))
    fill(make_home(stage.sandbox.root / "state") / "log.db", own)
    daemon = await stack.enter_async_context(stage.daemon(max_sessions=at_once))
    clients = await stack.enter_async_context(Clients(stage, at_once))
    ids = {one.claude_id for one in theirs}
    return (
        Side(own, lambda one, word: by_daemon(daemon, one.name, word), lambda c: not names(c, ids)),
        Side(theirs, lambda one, word: clients.say(one.claude_id, word), lambda c: names(c, ids)),
    )


def names(command: Command, conversations: set[str]) -> bool:
    return any(word.removeprefix("--resume=") in conversations for word in command)


async def by_daemon(daemon: Daemon, name: str, word: str) -> str:
    said = ""
    async with asyncio.timeout(PATIENCE), daemon.log.follow(session=name) as feed:
        await daemon.hear(f"/say {name} {word}", OWNER)
        async for item in feed:
            match item:
                case e.Event(payload=e.AssistantMessage(text=text)):
                    said = text
                case e.Event(payload=e.SessionEnded(message=message)):
                    raise RuntimeError(f"{name} has ended: {message}")
            state = daemon.book.state(name)
            if said and state is not None and may_rest(state):
                break
    return said


def figures(ours: Side, bare: Side, messages: int, at_once: int) -> list[Figure]:
    about = f"pool: {messages:,} messages to {messages // TIMES} sessions"
    return [
        Figure(
            name=f"{about}, {at_once} processes",
            value=ours.seconds,
            unit="s",
            baseline=bare.seconds,
            baseline_name="bare SDK resumes",
            target=f"≤ {LIMIT} × bare",
            met=ours.seconds <= LIMIT * bare.seconds,
        ),
        Figure(
            name=f"{about}, right answers",
            value=ours.right,
            unit="",
            baseline=bare.right,
            baseline_name="bare SDK resumes",
            target="all",
            met=ours.right == messages,
        ),
        Figure(
            name=f"{about}, most CLI processes at any moment",
            value=ours.census.most,
            unit="",
            baseline=bare.census.most,
            baseline_name="bare SDK resumes",
            target=f"≤ {at_once}",
            met=0 < ours.census.most <= at_once,
        ),
    ]
