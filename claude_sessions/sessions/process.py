"""Claude's process as a session has it: opened once, read until it ends, closed once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from claude_sessions import engines as g
from claude_sessions.errors import Conflict, EngineError
from claude_sessions.model import SessionSpec
from claude_sessions.state import SessionState

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How the process is to be started: anew, going on, or branching off."""

    resume: str | None = None
    fork: bool = False
    at: str | None = None  # branch off after this message of Claude's; None: at the end

    @staticmethod
    def of(state: SessionState) -> Opening:
        if state.claude_id is not None:
            return Opening(resume=state.claude_id)
        if state.source is not None:
            source, leaf = state.source
            return Opening(resume=source, fork=True, at=leaf)
        return Opening()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    conversation: g.Conversation
    claude_id: str | None  # of a conversation that begins; one that goes on has its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    error: EngineError
    while_starting: bool = False


EVENTS_HELD = 50_000

Item = Opened | Died | g.EngineEvent


class ClaudeProcess:
    """`run` is the one task that opens and reads it; what happens is posted, in order."""

    def __init__(
        self, engine: g.Engine, post: Callable[[Item], None], backlog: Callable[[], int]
    ) -> None:
        self._engine = engine
        self._post = post
        self._backlog = backlog
        self._task: asyncio.Task[None] | None = None
        self.conversation: g.Conversation | None = None

    async def run(
        self,
        spec: SessionSpec,
        *,
        ask: g.Asker,
        opening: Opening,
        budget_usd: float | None,
    ) -> None:
        self._task = asyncio.current_task()
        claude_id = str(uuid.uuid4())
        begins = opening.fork or opening.resume is None
        try:
            conversation = await self._engine.open(
                spec,
                ask=ask,
                claude_id=claude_id,
                resume=opening.resume,
                fork=opening.fork,
                fork_at=opening.at,
                budget_usd=budget_usd,
            )
        except Exception as error:  # noqa: BLE001 - becomes the end of the run
            self._post(Died(error=_as_engine_error(error), while_starting=True))
            return
        self.conversation = conversation
        self._post(Opened(conversation=conversation, claude_id=claude_id if begins else None))
        try:
            async for event in self.conversation:
                self._pass_on(event)
        except Exception as error:  # noqa: BLE001 - becomes the end of the run
            self._post(Died(error=_as_engine_error(error)))

    def _pass_on(self, event: g.EngineEvent) -> None:
        """While nothing can be stored, what a turn produces is kept here, up to a bound."""
        if self._backlog() > EVENTS_HELD:
            if isinstance(event, g.TextDelta | g.Heartbeat | g.ToolProgressed):
                return
            log.error("session.overrun", pid=self.live.pid, held=self._backlog())
            self.abandon()
        self._post(event)

    @property
    def live(self) -> g.Conversation:
        if self.conversation is None:
            raise Conflict("It is still starting. Try again in a moment.")
        return self.conversation

    def abandon(self) -> None:
        """Begin to end it, without waiting."""
        if self.conversation is not None:
            self.conversation.abandon()

    async def close(self) -> None:
        if self._task is None:
            return
        if self.conversation is None:
            self._task.cancel()
        else:
            await self.conversation.close()
        await asyncio.wait([self._task])  # it reads what was still on the way


def _as_engine_error(error: Exception) -> EngineError:
    """Whatever happens to the engine ends the run in the one way there is."""
    if isinstance(error, EngineError):
        return error
    log.error("engine.failed", exc_info=error)
    return EngineError(f"Claude's process could not be followed: {error!r}")
