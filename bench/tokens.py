"""From the model writing a token to the call on a channel that has the session in the foreground.

The throttle is set to nothing, so that every token may make a call and what is left is our own
path: CLI, engine, session, log, router, channel. The daemon's own router keeps its throttle; it
reads along, with no channel attached, while one of ours beside it does the delivering.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from claude_agent_sdk import ClaudeSDKClient, StreamEvent

from bench.bare import turn_over
from bench.figure import Figure
from bench.product import CHANNEL, OWNER, PATIENCE, idle
from bench.stage import staged
from bench.timing import interleaved, percentile_ms, scaled
from claude_sessions.channel import Kind as Shown
from claude_sessions.channel import MessageRef, Notification
from claude_sessions.clock import SystemClock
from claude_sessions.daemon import Daemon
from claude_sessions.demo import Gate, Request, Script, say
from claude_sessions.demo.steps import Step
from claude_sessions.router import NotificationRouter

SESSIONS = 5
PACE = 50  # tokens a second, each
LIMIT_MS = 5.0


class Round:
    """Everybody streams at once: when each token was written, and when it arrived."""

    def __init__(self, speakers: Sequence[str], tokens: int) -> None:
        self._speakers = speakers
        self._tokens = tokens
        self._gates = {who: Gate() for who in speakers}
        self._written: dict[str, float] = {}
        self._arrived: dict[str, float] = {}
        self._over = asyncio.Event()

    def answer(self, request: Request) -> Sequence[Step]:
        who = request.prompt
        if who not in self._gates:
            return [say("Hello.")]
        parts = [self._token(who, n) for n in range(self._tokens + 1)]
        return [self._gates[who], say(*parts, pace=PACE)]

    def _token(self, who: str, n: int) -> Callable[[Request], str]:
        def speak(_: Request) -> str:
            # The model asks for the next token just before it writes out the one before.
            if n:
                self._written[f"{who}:{n - 1}"] = time.monotonic()
            return f"{who}:{n} " if n < self._tokens else ""

        return speak

    async def start(self) -> None:
        for gate in self._gates.values():
            await gate.reached(timeout=PATIENCE)
        for gate in self._gates.values():
            gate.open()
            # Evenly out of step: in step, each would only wait for the four others.
            await asyncio.sleep(1 / PACE / len(self._gates))

    def arrive(self, text: str) -> None:
        """Called with what a reader sees, its newest token last."""
        token = text.rsplit(None, 1)[-1]
        self._arrived.setdefault(token, time.monotonic())
        if token.endswith(f":{self._tokens - 1}") and self._complete():
            self._over.set()

    def _complete(self) -> bool:
        return all(f"{who}:{self._tokens - 1}" in self._arrived for who in self._speakers)

    async def lags(self) -> list[float]:
        async with asyncio.timeout(PATIENCE + self._tokens / PACE):
            await self._over.wait()
        return [lag for who in self._speakers for lag in self._lags_of(who)]

    def _lags_of(self, who: str) -> list[float]:
        """A token that came together with a later one arrived when that one did."""
        lags = []
        seen = 0.0
        for n in reversed(range(self._tokens)):
            token = f"{who}:{n}"
            seen = self._arrived.get(token, seen)
            lags.append(seen - self._written[token])
        return lags


class StampingChannel:
    def __init__(self, arrive: Callable[[str], None]) -> None:
        self.id = CHANNEL
        self._arrive = arrive

    async def send(self, notification: Notification) -> MessageRef:
        self._stamp(notification)
        return MessageRef(channel=self.id, id="")

    async def edit(self, ref: MessageRef, notification: Notification) -> None:
        self._stamp(notification)

    async def close(self) -> None:
        pass

    def _stamp(self, notification: Notification) -> None:
        if notification.kind is Shown.STREAM and notification.text:
            self._arrive(notification.text)


class Streaming:
    """Sessions of the daemon and as many bare clients, all idle until their round."""

    def __init__(self, sessions: int, tokens: int) -> None:
        self._tokens = tokens
        self._round = Round((), 0)
        self._daemon: Daemon
        self._clients: list[ClaudeSDKClient] = []
        self._names = [f"session-{n}" for n in range(sessions)]

    async def open(self, stack: AsyncExitStack) -> None:
        script = Script().otherwise(lambda request: self._round.answer(request))
        stage = await stack.enter_async_context(staged(script))
        self._daemon = await stack.enter_async_context(stage.daemon())
        router = NotificationRouter(
            log=self._daemon.log,
            states=self._daemon.book.state,
            clock=SystemClock(),
            throttle_seconds=0,
        )
        await stack.enter_async_context(router)
        router.attach(StampingChannel(lambda text: self._round.arrive(text)))
        for name in self._names:
            await self._daemon.hear(f"/new --fg --name {name} hello", OWNER)
            await idle(self._daemon, name)
            self._clients.append(client := await stack.enter_async_context(stage.client()))
            await client.query("hello")
            await turn_over(client)

    async def by_daemon(self, n: str) -> list[float]:
        words = [f"{name}/{n}" for name in self._names]
        self._round = Round(words, self._tokens)
        for name, word in zip(self._names, words, strict=True):
            await self._daemon.hear(f"/say {name} {word}", OWNER)
        await self._round.start()
        lags = await self._round.lags()
        for name in self._names:
            await idle(self._daemon, name)
        return lags

    async def by_clients(self, n: str) -> list[float]:
        words = [f"client-{k}/{n}" for k in range(len(self._clients))]
        self._round = Round(words, self._tokens)
        async with asyncio.TaskGroup() as group:
            for client, word in zip(self._clients, words, strict=True):
                await client.query(word)
                group.create_task(self._read(client), name=f"read:{word}")
            await self._round.start()
        return await self._round.lags()

    async def _read(self, client: ClaudeSDKClient) -> None:
        async with asyncio.timeout(PATIENCE + self._tokens / PACE):
            async for message in client.receive_response():
                if isinstance(message, StreamEvent) and (text := text_of(message)):
                    self._round.arrive(text)


def text_of(message: StreamEvent) -> str | None:
    delta: dict[str, str] = message.event.get("delta", {})
    return delta.get("text")


async def measure(scale: float = 1.0) -> list[Figure]:
    sessions = SESSIONS if scale else 1
    async with AsyncExitStack() as stack:
        streaming = Streaming(sessions, tokens=scaled(200, scale, least=10))
        await streaming.open(stack)
        rounds = await interleaved(scaled(5, scale), streaming.by_daemon, streaming.by_clients)
    ours, bare = ([lag for lags in each for lag in lags] for each in rounds)
    return [
        figure(f"token to channel, {sessions} sessions streaming, p50", ours, bare, 50, LIMIT_MS),
        figure(f"token to channel, {sessions} sessions streaming, p95", ours, bare, 95, None),
    ]


def figure(
    name: str, ours: Sequence[float], bare: Sequence[float], percent: int, limit: float | None
) -> Figure:
    value = percentile_ms(ours, percent)
    return Figure(
        name=name,
        value=value,
        unit="ms",
        baseline=percentile_ms(bare, percent),
        baseline_name="bare SDK clients",
        target=f"≤ {limit:.0f} ms" if limit else "",
        met=value <= limit if limit else None,
    )
