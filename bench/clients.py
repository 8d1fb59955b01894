"""The pool as one would build it with bare clients: the one used longest ago gives way."""

from __future__ import annotations

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from claude_agent_sdk import ClaudeSDKClient

from bench.bare import turn_over
from bench.stage import Stage


class Clients:
    """Open it with `async with`. No more than `bound` may speak at once."""

    def __init__(self, stage: Stage, bound: int) -> None:
        self._stage = stage
        self._bound = bound
        self._idle: dict[str, Open] = {}  # conversation → its client, the one used last at the end
        self._busy = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._idle:
            await self._rest_one()

    async def say(self, conversation: str, word: str) -> str:
        """What it answers."""
        self._busy += 1
        one = self._idle.pop(conversation, None) or await self._woken(conversation)
        try:
            await one.client.query(word)
            return (await turn_over(one.client)).result or ""
        finally:
            self._idle[conversation] = one
            self._busy -= 1

    async def _woken(self, conversation: str) -> Open:
        if self._busy + len(self._idle) > self._bound:
            await self._rest_one()
        return await Open.of(self._stage, conversation)

    async def _rest_one(self) -> None:
        oldest = next(iter(self._idle))
        await self._idle.pop(oldest).stack.aclose()


class Open:
    def __init__(self, client: ClaudeSDKClient, stack: AsyncExitStack) -> None:
        self.client = client
        self.stack = stack

    @classmethod
    async def of(cls, stage: Stage, conversation: str) -> Self:
        stack = AsyncExitStack()
        return cls(await stack.enter_async_context(stage.client(resume=conversation)), stack)
